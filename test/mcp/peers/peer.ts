import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll } from "vitest";
import { complete, type Ended } from "../../../scripts/registry/program.ts";
import { COMPILE_CACHE } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { installed } from "./install.ts";

/** The programs that the server is tried with; each folder here is a package for one, so that the project depends on none. */
const peers = {
  conformance: { name: "@modelcontextprotocol/conformance", program: "dist/index.js" },
  inspector: {
    name: "@modelcontextprotocol/inspector",
    program: "clients/launcher/build/index.js",
  },
} as const;

/** Downloading one of them may take so long, in milliseconds, */
const INSTALL_MS = 5 * 60_000;

/** and one of its runs. */
const RUN_MS = 50_000;

export interface Peer {
  /** What is installed: `name version`. */
  readonly title: string;
  /** Runs it to its end, with an empty home. */
  run(args: readonly string[]): Promise<Ended>;
}

/** A program for the tests of a file, installed before the first of them where it is missing. */
export function usePeer(peer: keyof typeof peers): Peer {
  const { name, program } = peers[peer];
  let folder: string;
  beforeAll(async () => {
    folder = await installed(peer);
  }, INSTALL_MS);
  return {
    title: `${name} ${versionOf(peer, name)}`,
    run: async (args) => {
      const home = temporaryFolder();
      const PATH = process.env["PATH"] ?? "";
      const env = { PATH, HOME: home, NODE_COMPILE_CACHE: COMPILE_CACHE, NO_COLOR: "1" };
      const path = join(folder, "node_modules", name, program);
      return await complete(process.execPath, [path, ...args], { cwd: home, env }, RUN_MS);
    },
  };
}

/** Those that docs/mcp.md says the server is checked against, as `name version`. */
export function documented(): readonly string[] {
  const page = readFileSync(new URL("../../../docs/mcp.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("## Checked against");
  return [...section.matchAll(/`(@modelcontextprotocol\/\S+ [^`]+)`/g)].map(
    ([, title = ""]) => title,
  );
}

function versionOf(peer: string, name: string): string {
  const manifest = readFileSync(new URL(`${peer}/package.json`, import.meta.url), "utf8");
  return JSON.parse(manifest).dependencies[name];
}
