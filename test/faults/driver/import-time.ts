import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./numbers.ts";

const SCRIPT = fileURLToPath(new URL("../bot/importing.ts", import.meta.url));

/** Compiled code of the bots under test, as a deployment would keep it: most of them are killed young. */
export const COMPILE_CACHE: string = fileURLToPath(
  new URL("../../../node_modules/.cache/bots-under-test", import.meta.url),
);

/**
 * How long a process takes that loads what the bot under test loads and then ends, in milliseconds:
 * what any bot pays before its first own line. Also fills the compile cache.
 */
export async function measureImport(times = 5): Promise<number> {
  const run = promisify(execFile);
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const measured: number[] = [];
  for (let i = 0; i <= times; i++) {
    const started = performance.now();
    await run(process.execPath, [SCRIPT], { env });
    // The first one may have had to compile.
    if (i > 0) measured.push(performance.now() - started);
  }
  return Math.round(median(measured));
}
