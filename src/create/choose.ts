import type { Answers } from "./ask.ts";
import { isAttended } from "./attended.ts";
import type { Source } from "./dependency.ts";
import { obstacleToAll } from "./directory.ts";
import { UsageError } from "./errors.ts";
import type { Io } from "./io.ts";
import type { Options } from "./options.ts";
import { headLine } from "./report.ts";

/**
 * Settles where the bot goes, and asks for what the command line has left open where somebody is there
 * to answer; elsewhere the defaults are taken.
 *
 * @throws {UsageError} the directory is missing or cannot be a bot's
 * @throws {CreateError} nothing can be written there
 * @throws {Cancelled}
 */
export async function chooseAll(options: Options, source: Source, io: Io): Promise<Answers> {
  const { dir } = options;
  const isHopeless = dir !== undefined && obstacleToAll(dir, io) !== undefined;
  const terminal = asks(options, io) && !isHopeless ? io.terminal : undefined;
  if (terminal !== undefined) {
    // A fresh clone has no prompts yet.
    source.prepare?.();
    io.out(`${headLine(source.version)}\n`);
    const { ask } = await import("./ask.ts");
    return await ask(options, terminal, io);
  }
  if (dir === undefined) {
    throw new UsageError("Say where the bot shall go, for example: create-service-bot my-bot");
  }
  return { options: { ...options, dir }, asked: new Set(), begun: false };
}

function asks(options: Options, { terminal, env }: Io): boolean {
  const { dir, template, store, install, git, yes, json } = options;
  const isOpen = [dir, template, store, install, git].includes(undefined);
  return isOpen && terminal !== undefined && !yes && !json && isAttended(env);
}
