import { cpuTimeMs } from "../faces/core.ts";

/** Lengths of the short text, in characters. Work that takes far longer for a long text fails at the first length. */
const LENGTHS = [50, 500, 5_000];

/** The long text has this many times the length. */
const TIMES = 8;

/** Linear work takes 8 times as long for the long text, and quadratic work 64 times. */
const MAX_GROWTH = 24;

/** Quadratic work takes longer for the longest text. Shorter times vary too much to be compared. In ms. */
const COMPARED_MS = 100;

/** Garbage collections make single tries slower. */
const TRIES = 5;

/** Returns whether the work takes time in proportion to the text. */
export function isLinear(
  work: (text: string) => unknown,
  textOf: (length: number) => string,
): boolean {
  return LENGTHS.every((length) => isLinearUpTo(work, textOf(length), textOf(TIMES * length)));
}

function isLinearUpTo(work: (text: string) => unknown, short: string, long: string): boolean {
  let [shortMs, longMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let tries = 0; tries < TRIES; tries++) {
    shortMs = Math.min(shortMs, msOf(work, short));
    longMs = Math.min(longMs, msOf(work, long));
    if (longMs < COMPARED_MS || longMs < MAX_GROWTH * shortMs) return true;
  }
  return false;
}

/** Returns the CPU time, because on a busy machine the work may have to wait. */
function msOf(work: (text: string) => unknown, text: string): number {
  const began = cpuTimeMs();
  work(text);
  return cpuTimeMs() - began;
}
