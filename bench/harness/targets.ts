import type { Target } from "./benchmark.ts";
import type { Result } from "./results.ts";
import type { Section } from "./table.ts";

/** What became of a target. */
export interface Verdict {
  readonly target: Target;
  /** The ratio that was reached, or the median where nothing was compared. */
  readonly reached: number;
  readonly met: boolean;
  /** How far on the good side of the bound, as a share of it; negative where the target is missed. */
  readonly margin: number;
  /** What was measured, in words. */
  readonly what: string;
  readonly result: Result;
}

/** The targets of these results, by their numbers; those without a number at the end. */
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

/** What became of the target of one result, if it has one. */
export function verdictOf(result: Result): Verdict | undefined {
  const { target, ratio, median, unit, figure, against } = result;
  if (target === undefined) return undefined;
  const { bound, is } = target;
  const reached = ratio ?? median;
  const margin = (is === "at least" ? reached - bound : bound - reached) / bound;
  // Not a number, as of a round without samples, meets nothing.
  const what = `${figure}, ${ratio === undefined ? `in ${unit}` : `to ${against}`}`;
  return { target, reached, met: margin >= 0, margin, what, result };
}

/** How far a bound is away, such as "25 %"; with a digit more where that would be nothing. */
export function shareOf(margin: number): string {
  const percent = Math.abs(margin * 100);
  return `${percent.toFixed(percent > 0 && percent < 1 ? 1 : 0)} %`;
}

/** One line for each target: met or missed, and by how much. */
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
