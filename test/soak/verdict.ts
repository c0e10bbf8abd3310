import type { Span } from "./plan.ts";
import { median, type Plateau, type Point, plateauOf } from "./plateau.ts";
import type { Sample } from "./sampler.ts";
import { type Series, series } from "./series.ts";

/** What became of one series. */
export interface Judgement extends Plateau {
  readonly name: string;
  readonly unit: Series["unit"];
  /** False where the run was too short for it. */
  readonly counts: boolean;
}

/** What a reader that pins the WAL has done to it, in MiB. */
export interface Pin {
  readonly before: number;
  readonly most: number;
  /** Once it has let go. */
  readonly after: number;
  /** It grew, and came back. */
  readonly held: boolean;
}

export interface Verdict {
  readonly judgements: readonly Judgement[];
  /** Those of a run that is long enough for a pin to show anything. */
  readonly pins: readonly Pin[];
  /** True when nothing is wrong with any of it. */
  readonly holds: boolean;
}

export interface Judged {
  readonly samples: readonly Sample[];
  readonly spans: readonly Span[];
  readonly minutes: number;
}

/** To this size the inbox cuts its WAL back (`WAL_LIMIT_BYTES` in src/inbox/sqlite/open.ts), in MiB. */
const WAL_LIMIT = 64;

/** How long the WAL has to come back after a pin, in seconds. */
const RECOVERY = 120;

/** A pin of a shorter run lasts too short to be seen in the WAL. */
const PIN_MINUTES = 60;

/** Decides on a run that is over. */
export function verdictOf(judged: Judged): Verdict {
  const { spans, minutes } = judged;
  const pinned = spans.filter(({ kind }) => kind === "pinned reader");
  const judgements = series.flatMap((each) => judge(each, judged, pinned));
  const pins = minutes < PIN_MINUTES ? [] : pinned.map((span) => pinOf(span, judged.samples));
  const rests = judgements.every(({ reached, counts }) => reached || !counts);
  return { judgements, pins, holds: rests && pins.every(({ held }) => held) };
}

function judge(one: Series, judged: Judged, pinned: readonly Span[]): Judgement[] {
  const { name, unit, of, rule, fromMinutes } = one;
  const { minutes } = judged;
  const isPinned = ({ at }: Point) =>
    pinned.some(({ from, to }) => at >= from && at < to + RECOVERY);
  const points = judged.samples
    .flatMap((sample): Point[] => {
      const value = of(sample);
      return value === undefined ? [] : [{ at: sample.at, value }];
    })
    .filter((point) => !name.startsWith("WAL") || !isPinned(point));
  if (points.length === 0) return [];
  const plateau = plateauOf(points, rule, minutes * 60);
  return [{ name, unit, counts: minutes >= fromMinutes, ...plateau }];
}

function pinOf({ from, to }: Span, samples: readonly Sample[]): Pin {
  const wal = (begin: number, end: number) =>
    samples.filter(({ at }) => at >= begin && at < end).map((sample) => sample.wal / 2 ** 20);
  const before = median(wal(from - RECOVERY, from));
  const most = Math.max(...wal(from, to + RECOVERY));
  const after = median(wal(to + RECOVERY, to + 2 * RECOVERY));
  const held = most > 1.5 * before && after <= Math.max(before, WAL_LIMIT) * 1.01;
  return { before, most, after, held };
}
