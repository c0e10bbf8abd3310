import type { Extension } from "../platform/server.ts";
import type { Command } from "./command.ts";
import { mcp } from "./mcp.ts";

/** Commands that nothing else needs. To remove one, delete its files, its tests and its lines here. */
export const optionalCommands: Readonly<Record<string, Command>> = {
  mcp,
};

/** Extensions of the local platform, by the command that offers the same. */
export const extensions: Readonly<Record<string, Extension>> = Object.fromEntries(
  Object.entries(optionalCommands).flatMap(([name, { extension }]) =>
    extension === undefined ? [] : [[name, extension]],
  ),
);
