import { openSync, readFileSync, readSync } from "node:fs";
import { GCProfiler } from "node:v8";

/** Resources that a process needed for some work. */
export interface Costs {
  /** Write calls, to files and sockets. NaN outside Linux. */
  readonly writeCalls: number;
  /** Bytes of JavaScript objects. */
  readonly allocated: number;
  readonly commits: number;
  /** Bytes appended to the WAL of a SQLite file. */
  readonly wal: number;
}

/** Position of the frame count in the index of a WAL. */
const FRAMES_AT = 16;
const FRAME_BYTES = 24 + 4096;

let began:
  | { readonly writeCalls: number; readonly heap: number; readonly collections: GCProfiler }
  | undefined;
let index: number | undefined;
let [commits, frames] = [0, 0];
let lastFrames: number | undefined;

export function startCosts(): void {
  [commits, frames, lastFrames] = [0, 0, undefined];
  const collections = new GCProfiler();
  collections.start();
  began = { writeCalls: writeCalls(), heap: process.memoryUsage().heapUsed, collections };
}

export function stopCosts(): Costs {
  if (began === undefined) throw new Error("call `startCosts` before `stopCosts`");
  const { writeCalls: before, heap, collections } = began;
  began = undefined;
  return {
    writeCalls: writeCalls() - before,
    allocated: process.memoryUsage().heapUsed - heap + freedBy(collections),
    commits,
    wal: frames * FRAME_BYTES,
  };
}

/** Counts a commit and the frames that it appended. Must be called after each commit. Does nothing outside a count. */
export function noteCommit(file: string): void {
  if (began === undefined) return;
  // Never closed, because closing it would release SQLite's locks.
  index ??= openSync(`${file}-shm`, "r");
  const now = readFrames(index);
  commits += 1;
  // The first commit only shows where the WAL ends. A checkpoint lets the WAL begin again.
  const before = lastFrames ?? now;
  frames += now < before ? now : now - before;
  lastFrames = now;
}

/** Returns the bytes that the garbage collections have freed. */
function freedBy(collections: GCProfiler): number {
  let sum = 0;
  for (const { beforeGC, afterGC } of collections.stop().statistics) {
    sum += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  }
  return sum;
}

function readFrames(handle: number): number {
  const bytes = Buffer.alloc(4);
  readSync(handle, bytes, 0, 4, FRAMES_AT);
  return bytes.readUInt32LE();
}

function writeCalls(): number {
  if (process.platform !== "linux") return Number.NaN;
  return Number(/^syscw: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
