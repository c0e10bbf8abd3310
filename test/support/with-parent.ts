import { type ChildProcessByStdio, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

/**
 * Stops the program with the signal that it reads from stdin. If the parent exits without sending one, also deletes the
 * program's data.
 */
const WITH_PARENT = `"$@" & child=$!; read how; said=$?
kill -"\${how:-INT}" $child; wait $child; [ $said = 0 ] || rm -rf "$0"`;

/** A server that must not outlive its parent process. The parent can read its stderr. */
export type Dependent = ChildProcessByStdio<Writable, null, Readable>;

/** @param data folder to delete if the parent exits first */
export function spawnWithParent(
  command: readonly string[],
  data: string,
  options: Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid">,
): Dependent {
  return spawn("sh", ["-c", WITH_PARENT, data, ...command], {
    ...options,
    stdio: ["pipe", "ignore", "pipe"],
    // Use a separate process group, so that a signal to the tests does not also kill this shell, which must stop the
    // server.
    detached: true,
  });
}

/** @param signal without the SIG prefix, as for `kill` */
export async function endWithParent(
  child: Dependent,
  signal: "INT" | "QUIT" | "TERM",
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin.end(`${signal}\n`);
  await exited;
}
