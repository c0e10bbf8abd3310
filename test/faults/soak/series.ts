import { existsSync, readdirSync, statSync } from "node:fs";
import type { BotSample } from "../bot/protocol.ts";
import type { World } from "../driver/world.ts";
import { markdownTable, median } from "../report.ts";
import { PINNED, type Span } from "./bad-luck.ts";

export interface Sample extends BotSample {
  /** In seconds since the first sample. */
  readonly at: number;
  readonly file: number;
  readonly wal: number;
  /** `undefined` on systems without /proc. */
  readonly descriptors?: number;
}

export async function takeSample({ bots: [bot], store }: World, at: number): Promise<Sample> {
  if (bot === undefined) throw new Error("no bot runs");
  const own = await bot.sample();
  const folder = `/proc/${bot.pid}/fd`;
  return {
    at,
    ...own,
    file: statSync(store.file).size,
    wal: statSync(`${store.file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    ...(existsSync(folder) ? { descriptors: readdirSync(folder).length } : {}),
  };
}

/** A resource that must reach a plateau. */
interface Series {
  readonly name: string;
  readonly of: (sample: Sample) => number | undefined;
  /** Allowed increase, as a fraction of the value. The floor applies if it is higher. */
  readonly share: number;
  readonly floor: number;
  /**
   * How to summarize a part of the run: by its lowest value, which is the level after garbage collection, or by its
   * median.
   */
  readonly by: "lowest" | "median";
  /** Shortest run that proves anything about the resource, in minutes. */
  readonly fromMinutes: number;
}

const mebi = (bytes: number): number => bytes / 2 ** 20;

/**
 * Memory needs a longer run because V8 fills its heap first. The file needs the longest: the inbox sweeps it every ten
 * minutes and keeps events for half an hour.
 */
const [MEMORY, FILE, OTHER] = [30, 90, 5];

const WAL = "WAL, not pinned (MiB)";

const all: readonly Series[] = [
  series("memory of the process (MiB)", ({ rss }) => mebi(rss), 0.15, 15, MEMORY),
  series(
    "heap after collections (MiB)",
    ({ heapUsed }) => mebi(heapUsed),
    0.15,
    4,
    MEMORY,
    "lowest",
  ),
  series(
    "memory outside of the heap (MiB)",
    ({ external }) => mebi(external),
    0.15,
    4,
    MEMORY,
    "lowest",
  ),
  series("file of the inbox (MiB)", ({ file }) => mebi(file), 0.15, 2, FILE),
  series(WAL, ({ wal }) => mebi(wal), 0.1, 2, FILE),
  series("open file descriptors", ({ descriptors }) => descriptors, 0.1, 8, OTHER),
  series("active handles", ({ handles }) => handles, 0.1, 8, OTHER),
  series("pending events", ({ pending }) => pending, 0.5, 30, OTHER),
  series("dead letters", ({ deadLetters }) => deadLetters, 0.5, 10, OTHER),
  series("delay of the event loop, 99th percentile (ms)", ({ loopP99 }) => loopP99, 0.5, 40, OTHER),
];

/** Time for the WAL to shrink after a pin, in seconds. */
const WAL_RECOVERY = 120;

/** The size to which the inbox shrinks its WAL, in MiB. */
const WAL_LIMIT = 64;

/** In a run shorter than this, the pins are too short for the WAL to grow. */
const PIN_MINUTES = 60;

/** Number of parts into which the run is divided. A single sample proves little. */
const PARTS = 48;

export interface Verdict {
  readonly table: string;
  readonly violations: readonly string[];
}

export function judgeSeries(
  samples: readonly Sample[],
  spans: readonly Span[],
  seconds: number,
): Verdict {
  const pins = spans.filter(({ kind }) => kind === PINNED);
  const isPinned = ({ at }: Sample) =>
    pins.some(({ from, to }) => at >= from && at < to + WAL_RECOVERY);
  const head = [
    "resource",
    "2nd quarter",
    "last quarter",
    "trend per hour",
    "allowed",
    "highest",
    "",
  ];
  const rows: (readonly string[])[] = [head, ["---", ...head.slice(2).map(() => "---:"), "---"]];
  const violations: string[] = [];
  for (const one of all) {
    const points = samples
      .filter((sample) => one.name !== WAL || !isPinned(sample))
      .flatMap((sample) => ({ at: sample.at, value: one.of(sample) ?? Number.NaN }));
    if (points.every(({ value }) => Number.isNaN(value))) continue;
    const { figures, reached } = findPlateau(points, one, seconds);
    const counts = seconds >= one.fromMinutes * 60;
    const text = figures.map((figure) => figure.toFixed(1));
    const verdict = reached ? "plateau" : "**rises**";
    rows.push([one.name, ...text, counts ? verdict : "run too short"]);
    if (counts && !reached) violations.push(`rises: ${one.name}: ${text.join(", ")}`);
  }
  if (seconds >= PIN_MINUTES * 60)
    violations.push(...pins.flatMap((pin) => judgePin(pin, samples)));
  return { table: markdownTable(rows), violations };
}

interface Point {
  readonly at: number;
  readonly value: number;
}

/**
 * Compares the medians of the second and the last quarter, and checks the trend of the second half. The trend is the
 * median of all slopes (Theil-Sen), per hour, or over the whole run if it is shorter. A falling trend is not a leak.
 */
function findPlateau(points: readonly Point[], { by, floor, share }: Series, seconds: number) {
  const length = seconds / PARTS;
  const parts = [...Map.groupBy(points, ({ at }) => Math.floor(at / length))].map(([part, own]) => {
    const values = own.map(({ value }) => value);
    return {
      at: (part + 0.5) * length,
      value: by === "lowest" ? Math.min(...values) : median(values),
    };
  });
  const between = (from: number, to: number) =>
    parts.filter(({ at }) => at >= from * seconds && at < to * seconds);
  const second = median(between(0.25, 0.5).map(({ value }) => value));
  const last = median(between(0.75, 1).map(({ value }) => value));
  const half = between(0.5, 1);
  const slopes = half.flatMap((a, nth) =>
    half.slice(nth + 1).map((b) => (b.value - a.value) / (b.at - a.at)),
  );
  const perHour = median(slopes) * 3600;
  const allowed = Math.max(floor, share * second);
  // With NaN, both comparisons are false, so it does not count as a plateau.
  const reached = last - second <= allowed && perHour * Math.min(1, seconds / 3600) <= allowed;
  const highest = Math.max(...points.map(({ value }) => value));
  return { figures: [second, last, perHour, allowed, highest], reached };
}

/** The WAL must grow during a pin; otherwise the pin had no effect. It must shrink afterwards. */
function judgePin({ from, to }: Span, samples: readonly Sample[]): string[] {
  const wal = (begin: number, end: number) =>
    samples.filter(({ at }) => at >= begin && at < end).map((sample) => mebi(sample.wal));
  const before = median(wal(from - WAL_RECOVERY, from));
  const most = Math.max(...wal(from, to + WAL_RECOVERY));
  const after = median(wal(to + WAL_RECOVERY, to + 2 * WAL_RECOVERY));
  if (most > 1.5 * before && after <= Math.max(before, WAL_LIMIT) * 1.01) return [];
  return [`WAL of a pinned reader: ${before} MiB before, up to ${most}, ${after} after it`];
}

function series(
  name: string,
  of: Series["of"],
  share: number,
  floor: number,
  fromMinutes: number,
  by: Series["by"] = "median",
): Series {
  return { name, of, share, floor, fromMinutes, by };
}
