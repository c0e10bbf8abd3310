import type { Target } from "./benchmark.ts";
import type { Result } from "./results.ts";
import type { Section } from "./table.ts";

export interface Verdict {
  readonly target: Target;
  /** The measured ratio, or the median if the figure is not compared. */
  readonly reached: number;
  readonly met: boolean;
  /** Distance to the bound as a fraction of the bound. Negative if the target is missed. */
  readonly margin: number;
  readonly what: string;
  readonly result: Result;
}

/** Returns the verdicts, sorted by target number. Targets without a number come last. */
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

/** Returns the verdict on a result, or `undefined` if the result has no target. */
export function verdictOf(result: Result): Verdict | undefined {
  const { target, ratio, median, unit, figure, against } = result;
  if (target === undefined) return undefined;
  const { bound, is } = target;
  const reached = ratio ?? median;
  const margin = (is === "at least" ? reached - bound : bound - reached) / bound;
  // If a round has no samples, the figure is NaN, which meets no target.
  const what = `${figure}, ${ratio === undefined ? `in ${unit}` : `to ${against}`}`;
  return { target, reached, met: margin >= 0, margin, what, result };
}

/** Formats a margin as a percentage. Margins under 1 % get one decimal. */
export function shareOf(margin: number): string {
  const percent = Math.abs(margin * 100);
  return `${percent.toFixed(percent > 0 && percent < 1 ? 1 : 0)} %`;
}

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
