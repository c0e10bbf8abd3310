import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TestProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const clock = fileURLToPath(new URL("clock.ts", import.meta.url));

export interface StartOptions {
  /** How far the process's clock runs ahead, in ms. Default: 0. */
  readonly clockOffsetMs?: number;
}

/** A bot's folder, deleted when the test ends. */
export class BotFolder {
  readonly #path: string = temporaryFolder();

  /** @param install installs the bot's packages into its folder */
  constructor(code: string, install: (folder: string) => void) {
    install(this.#path);
    writeFileSync(join(this.#path, "package.json"), '{ "type": "module" }');
    writeFileSync(join(this.#path, "bot.ts"), code);
  }

  run(env: Record<string, string>, { clockOffsetMs = 0 }: StartOptions = {}): TestProcess {
    const args = ["--import", clock, "bot.ts"];
    return new TestProcess(args, {
      cwd: this.#path,
      bareEnv: true,
      env: { ...env, CLOCK_OFFSET_MS: String(clockOffsetMs), NODE_NO_WARNINGS: "1" },
    });
  }
}

export function linked(modules: string): (folder: string) => void {
  return (folder) => symlinkSync(modules, join(folder, "node_modules"));
}
