import { openSync, readFileSync, readSync } from "node:fs";
import { GCProfiler } from "node:v8";

/** Resources that a process needed for some work. */
export interface Costs {
  /** Write calls, to files and sockets. Absent outside Linux. */
  readonly writeCalls: number | undefined;
  /** Bytes of JavaScript objects. */
  readonly allocated: number;
  readonly commits: number;
  /** Bytes appended to the WAL of a SQLite file. */
  readonly wal: number;
}

/** Position of the frame count in the index of a WAL. */
const FRAMES_AT = 16;
const FRAME_BYTES = 24 + 4096;

let began: { readonly writeCalls: number | undefined; readonly heap: number } | undefined;
let profiler = new GCProfiler();
let index: number | undefined;
let [commits, frames, lastFrames] = [0, 0, 0];

export function startCosts(): void {
  [commits, frames] = [0, 0];
  profiler = new GCProfiler();
  profiler.start();
  began = { writeCalls: writeCalls(), heap: process.memoryUsage().heapUsed };
}

export function stopCosts(): Costs {
  if (began === undefined) throw new Error("call `startCosts` before `stopCosts`");
  const { writeCalls: before, heap } = began;
  const after = writeCalls();
  const allocated = process.memoryUsage().heapUsed - heap + collected();
  began = undefined;
  return {
    writeCalls: after === undefined || before === undefined ? undefined : after - before,
    allocated,
    commits,
    wal: frames * FRAME_BYTES,
  };
}

/** Counts a commit and the frames that it appended. Must be called after each commit. */
export function noteCommit(file: string): void {
  // Never closed, because closing it would release SQLite's locks.
  index ??= openSync(`${file}-shm`, "r");
  const now = readFrames(index);
  // A checkpoint lets the WAL begin again.
  if (began !== undefined) {
    commits += 1;
    frames += now < lastFrames ? now : now - lastFrames;
  }
  lastFrames = now;
}

/** Bytes that garbage collections have freed. */
function collected(): number {
  let sum = 0;
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    sum += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  }
  return sum;
}

function readFrames(handle: number): number {
  const bytes = Buffer.alloc(4);
  readSync(handle, bytes, 0, 4, FRAMES_AT);
  return bytes.readUInt32LE();
}

function writeCalls(): number | undefined {
  if (process.platform !== "linux") return undefined;
  return Number(/^syscw: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
