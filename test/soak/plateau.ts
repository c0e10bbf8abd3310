/** A value at a moment. */
export interface Point {
  /** Seconds since the beginning. */
  readonly at: number;
  readonly value: number;
}

/** What a series may do and still have reached a plateau. */
export interface Rule {
  /** It may rise by this share of itself, */
  readonly share: number;
  /** or by so much, where that is more; in its unit. */
  readonly floor: number;
  /** A part of the run stands for its lowest value (what is left when garbage was collected), or for its median. */
  readonly by: "lowest" | "median";
}

export interface Plateau {
  /** Medians of the second and of the last quarter of the run. */
  readonly second: number;
  readonly last: number;
  /** What the second half of the run would come to in an hour, by the median of all slopes (Theil and Sen). */
  readonly perHour: number;
  /** The highest value of all. */
  readonly most: number;
  /** How much more it may have become, from quarter to quarter and in an hour. */
  readonly allowed: number;
  readonly reached: boolean;
}

/** The run is cut into so many parts, each of which stands for one value: a moment says little. */
const PARTS = 48;

/**
 * Decides whether a series has come to rest: its last quarter is no more than is allowed above its second, and its second
 * half does not rise faster than that in an hour, or in the whole run where that is shorter. A fall is no leak.
 *
 * @param seconds how long the run was
 */
export function plateauOf(points: readonly Point[], rule: Rule, seconds: number): Plateau {
  const parts = partsOf(points, rule, seconds);
  const between = (from: number, to: number) =>
    parts.filter(({ at }) => at >= from * seconds && at < to * seconds);
  const second = median(between(0.25, 0.5).map(({ value }) => value));
  const last = median(between(0.75, 1).map(({ value }) => value));
  const perHour = slope(between(0.5, 1)) * 3600;
  const allowed = Math.max(rule.floor, rule.share * second);
  const rise = perHour * Math.min(1, seconds / 3600);
  return {
    ...{ second, last, perHour, allowed },
    most: Math.max(...points.map(({ value }) => value)),
    // What is not a number has reached nothing.
    reached: last - second <= allowed && rise <= allowed,
  };
}

/** One value for each part of the run that has any. */
function partsOf(points: readonly Point[], { by }: Rule, seconds: number): Point[] {
  const length = seconds / PARTS;
  const values = Map.groupBy(points, ({ at }) => Math.floor(at / length));
  return [...values].map(([part, all]) => {
    const each = all.map(({ value }) => value);
    return {
      at: (part + 0.5) * length,
      value: by === "lowest" ? Math.min(...each) : median(each),
    };
  });
}

/** The median of the slopes between all pairs, per second: what a few outliers cannot move. */
function slope(points: readonly Point[]): number {
  const slopes = points.flatMap((a, nth) =>
    points.slice(nth + 1).map((b) => (b.value - a.value) / (b.at - a.at)),
  );
  return median(slopes);
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
