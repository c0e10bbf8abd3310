import type { Rule } from "./plateau.ts";
import type { Sample } from "./sampler.ts";

/** What is watched, and must come to rest. */
export interface Series {
  readonly name: string;
  readonly unit: "MiB" | "ms" | "";
  /** In that unit; undefined where it cannot be measured. */
  readonly of: (sample: Sample) => number | undefined;
  readonly rule: Rule;
  /** A shorter run says nothing about it. */
  readonly fromMinutes: number;
}

const mebi = (bytes: number): number => bytes / 2 ** 20;

/** In less, one fault is a large part of the run. */
const FEWEST_MINUTES = 5;

/** V8 takes its time until it has made itself at home. */
const MEMORY_MINUTES = 30;

/** The file is swept every ten minutes, and what has ended is kept for up to half an hour. */
const FILE_MINUTES = 90;

export const series: readonly Series[] = [
  {
    ...{ name: "memory of the process (RSS)", unit: "MiB", fromMinutes: MEMORY_MINUTES },
    of: ({ rss }) => mebi(rss),
    rule: { share: 0.15, floor: 15, by: "median" },
  },
  {
    ...{ name: "heap in use, after collections", unit: "MiB", fromMinutes: MEMORY_MINUTES },
    of: ({ heapUsed }) => mebi(heapUsed),
    rule: { share: 0.15, floor: 4, by: "lowest" },
  },
  {
    ...{ name: "memory outside of the heap", unit: "MiB", fromMinutes: MEMORY_MINUTES },
    of: ({ external }) => mebi(external),
    rule: { share: 0.15, floor: 4, by: "lowest" },
  },
  {
    ...{ name: "file of the inbox", unit: "MiB", fromMinutes: FILE_MINUTES },
    of: ({ file }) => mebi(file),
    rule: { share: 0.15, floor: 2, by: "median" },
  },
  {
    ...{ name: "WAL, while nobody pins it", unit: "MiB", fromMinutes: FILE_MINUTES },
    of: ({ wal }) => mebi(wal),
    rule: { share: 0.1, floor: 2, by: "median" },
  },
  {
    ...{ name: "open file descriptors", unit: "", fromMinutes: FEWEST_MINUTES },
    of: ({ descriptors }) => descriptors,
    rule: { share: 0.1, floor: 8, by: "median" },
  },
  {
    ...{ name: "active handles", unit: "", fromMinutes: FEWEST_MINUTES },
    of: ({ handles }) => handles,
    rule: { share: 0.1, floor: 8, by: "median" },
  },
  {
    ...{ name: "pending events", unit: "", fromMinutes: FEWEST_MINUTES },
    of: ({ pending }) => pending,
    rule: { share: 0.5, floor: 30, by: "median" },
  },
  {
    ...{ name: "dead letters", unit: "", fromMinutes: FEWEST_MINUTES },
    of: ({ deadLetters }) => deadLetters,
    rule: { share: 0.5, floor: 10, by: "median" },
  },
  {
    ...{
      name: "delay of the event loop, 99th percentile",
      unit: "ms",
      fromMinutes: FEWEST_MINUTES,
    },
    of: ({ loopP99 }) => loopP99,
    rule: { share: 0.5, floor: 40, by: "median" },
  },
];
