import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll } from "vitest";
import { complete, type Ended } from "../../scripts/registry/program.ts";
import { COMPILE_CACHE } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { INSTALL_TIMEOUT_MS, installPeer } from "./install.ts";

/** The folders next to this file install these programs. */
const peers = {
  conformance: {
    folder: "conformance",
    name: "@modelcontextprotocol/conformance",
    program: "dist/index.js",
  },
  inspector: {
    folder: "inspector",
    name: "@modelcontextprotocol/inspector",
    program: "clients/launcher/build/index.js",
  },
  publint: { folder: "publishing", name: "publint", program: "src/cli.js" },
  attw: { folder: "publishing", name: "@arethetypeswrong/cli", program: "dist/index.js" },
} as const;

const RUN_TIMEOUT_MS = 50_000;

export interface Peer {
  /** Name and installed version, as `name version`. */
  readonly title: string;
  run(args: readonly string[]): Promise<Ended>;
}

/** Installs a program before the first test in a file, if it is missing. */
export function usePeer(peer: keyof typeof peers): Peer {
  const { folder, name, program } = peers[peer];
  let modules: string;
  beforeAll(async () => {
    modules = await installPeer(folder);
  }, INSTALL_TIMEOUT_MS);
  return {
    title: `${name} ${versionOf(folder, name)}`,
    run: async (args) => {
      const home = temporaryFolder();
      const PATH = process.env["PATH"] ?? "";
      const env = { PATH, HOME: home, NODE_COMPILE_CACHE: COMPILE_CACHE, NO_COLOR: "1" };
      const path = join(modules, name, program);
      return await complete(process.execPath, [path, ...args], { cwd: home, env }, RUN_TIMEOUT_MS);
    },
  };
}

function versionOf(folder: string, name: string): string {
  const manifest = readFileSync(new URL(`${folder}/package.json`, import.meta.url), "utf8");
  return JSON.parse(manifest).dependencies[name];
}
