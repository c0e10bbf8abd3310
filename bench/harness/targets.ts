import type { Target } from "./benchmark.ts";
import type { Result } from "./results.ts";
import type { Section } from "./table.ts";

export interface Verdict {
  readonly target: Target;
  /** The measured ratio, or the median if nothing is compared. */
  readonly reached: number;
  readonly met: boolean;
  /** Distance to the bound as a share of it. Negative if the target is missed. */
  readonly margin: number;
  /** Description of the measured figure. */
  readonly what: string;
  readonly result: Result;
}

/** Returns the verdicts of the results, sorted by target number. Targets without a number come last. */
export function judge(sections: readonly Section[]): Verdict[] {
  const verdicts = sections.flatMap(({ benchmark, results }) =>
    results.flatMap((result) => {
      const verdict = verdictOf(result);
      return verdict === undefined ? [] : [{ ...verdict, what: `${benchmark}: ${verdict.what}` }];
    }),
  );
  const place = ({ target }: Verdict) => target.number ?? Number.POSITIVE_INFINITY;
  return verdicts.sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

/** Returns the verdict on a result's target. `undefined` without a target. */
export function verdictOf(result: Result): Verdict | undefined {
  const { target, ratio, median, unit, figure, against } = result;
  if (target === undefined) return undefined;
  const { bound, is } = target;
  const reached = ratio ?? median;
  const margin = (is === "at least" ? reached - bound : bound - reached) / bound;
  // NaN, for example from a round without samples, meets no target.
  const what = `${figure}, ${ratio === undefined ? `in ${unit}` : `to ${against}`}`;
  return { target, reached, met: margin >= 0, margin, what, result };
}

/** Formats a margin, such as "25 %". A margin under 1 % has one decimal. */
export function shareOf(margin: number): string {
  const percent = Math.abs(margin * 100);
  return `${percent.toFixed(percent > 0 && percent < 1 ? 1 : 0)} %`;
}

/** Formats one line per target: met or missed, and by how much. */
export function verdictLines(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(({ target, reached, met, margin, what }) => {
    const number = target.number === undefined ? " " : String(target.number);
    const said = `${met ? "met" : "MISSED"} by ${shareOf(margin)}`;
    const bound = `${target.is} ${target.bound}`;
    return `  ${number}  ${said.padEnd(16)}${reached.toFixed(2).padStart(7)}, ${bound.padEnd(14)} ${what}`;
  });
  const missed = verdicts.filter(({ met }) => !met).length;
  const sum = `${verdicts.length - missed} of ${verdicts.length} targets met`;
  return [...lines, sum].join("\n");
}
