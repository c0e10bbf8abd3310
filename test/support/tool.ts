import { join } from "node:path";
import { beforeAll } from "vitest";
import { complete, type Ended } from "../../scripts/registry/program.ts";
import { INSTALL_TIMEOUT_MS, installTools, toolVersion } from "../../tools/install.ts";
import { COMPILE_CACHE } from "./process.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Programs in tools/, by package. */
const programs = {
  "@modelcontextprotocol/conformance": "dist/index.js",
  publint: "src/cli.js",
} as const;

const RUN_TIMEOUT_MS = 50_000;

export interface Tool {
  /** Name and installed version, as `name version`. */
  readonly title: string;
  run(args: readonly string[]): Promise<Ended>;
}

/** Installs the tools before the first test in a file, if they are missing. */
export function useTool(name: keyof typeof programs): Tool {
  let modules: string;
  beforeAll(async () => {
    modules = await installTools();
  }, INSTALL_TIMEOUT_MS);
  return {
    title: `${name} ${toolVersion(name)}`,
    run: async (args) => {
      const home = temporaryFolder();
      const PATH = process.env["PATH"] ?? "";
      const env = { PATH, HOME: home, NODE_COMPILE_CACHE: COMPILE_CACHE, NO_COLOR: "1" };
      const path = join(modules, name, programs[name]);
      return await complete(process.execPath, [path, ...args], { cwd: home, env }, RUN_TIMEOUT_MS);
    },
  };
}
