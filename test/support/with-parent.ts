import { type ChildProcessByStdio, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

/**
 * Ends the program by the signal that it is told, or when whoever started it is gone, however that came about:
 * then nobody needs its data any more.
 */
const WITH_PARENT = `"$@" & child=$!; read how; said=$?
kill -"\${how:-INT}" $child; wait $child; [ $said = 0 ] || rm -rf "$0"`;

/** A server that must not outlive the process that started it. What it says on standard error can be read. */
export type Dependent = ChildProcessByStdio<Writable, null, Readable>;

/** @param data the folder that is dropped when nobody is left to do it */
export function spawnWithParent(
  command: readonly string[],
  data: string,
  options: Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid">,
): Dependent {
  return spawn("sh", ["-c", WITH_PARENT, data, ...command], {
    ...options,
    stdio: ["pipe", "ignore", "pipe"],
    // Not to be killed with the tests, for it has to end the server.
    detached: true,
  });
}

/** @param signal without SIG, as `kill` takes it */
export async function endWithParent(
  child: Dependent,
  signal: "INT" | "QUIT" | "TERM",
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin.end(`${signal}\n`);
  await exited;
}
