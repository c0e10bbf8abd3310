import { type ChildProcessByStdio, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

/** Ends the program when whoever started it is gone, however that came about; or by the signal that it is told. */
const WITH_PARENT = `"$@" & child=$!; read how; kill -"\${how:-INT}" $child; wait $child`;

/** A server that must not outlive the process that started it. What it says on standard error can be read. */
export type Dependent = ChildProcessByStdio<Writable, null, Readable>;

export function spawnWithParent(
  command: readonly string[],
  options: Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid">,
): Dependent {
  return spawn("sh", ["-c", WITH_PARENT, "sh", ...command], {
    ...options,
    stdio: ["pipe", "ignore", "pipe"],
  });
}

/** @param signal without SIG, as `kill` takes it */
export async function endWithParent(child: Dependent, signal: "INT" | "QUIT"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin.end(`${signal}\n`);
  await exited;
}
