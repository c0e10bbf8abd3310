import type { Figure, Target } from "./benchmark.ts";
import type { Measured } from "./rounds.ts";

/** A figure as it was measured. */
export interface Result {
  readonly figure: string;
  readonly unit: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** What the ratio is to; absent where there is none. */
  readonly against?: string;
  /** The median of the rounds' own ratios. */
  readonly ratio?: number;
  readonly target?: Target;
  /** One value for each round. */
  readonly rounds: readonly number[];
}

/** Makes the figures of what was measured. */
export function resultsOf(figures: readonly Figure[], measured: Measured): Result[] {
  return figures.map((figure) => {
    const rounds = samplesOf(figure.sample, measured);
    return {
      figure: figure.name,
      unit: figure.unit,
      median: median(rounds),
      min: Math.min(...rounds),
      max: Math.max(...rounds),
      ...comparison(figure, figures, measured),
      ...(figure.target && { target: figure.target }),
      rounds,
    };
  });
}

/** The middle one; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error("there is no median of nothing");
  return (lower + upper) / 2;
}

function comparison(
  { sample, against }: Figure,
  figures: readonly Figure[],
  measured: Measured,
): Pick<Result, "against" | "ratio"> {
  if (against === undefined) return {};
  const own = samplesOf(sample, measured);
  const peers = typeof against === "string" ? [against] : against;
  const others = peers.map((peer) => samplesOf(peer, measured));
  // Round by round: what slowed the machine down for a while slowed both down.
  const best = own.map((_, round) => Math.max(...others.map((each) => each[round] ?? Number.NaN)));
  const ratios = own.map((value, round) => value / (best[round] ?? Number.NaN));
  return { against: nameOf(peers, figures, measured), ratio: median(ratios) };
}

/** Of several peers the one with the highest median: it is the best one in most rounds. */
function nameOf(peers: readonly string[], figures: readonly Figure[], measured: Measured): string {
  const sorted = peers.toSorted(
    (a, b) => median(samplesOf(b, measured)) - median(samplesOf(a, measured)),
  );
  const [best = ""] = sorted;
  return figures.find(({ sample }) => sample === best)?.name ?? best;
}

function samplesOf(name: string, measured: Measured): readonly number[] {
  const samples = measured.get(name);
  if (samples === undefined) throw new Error(`no subject of the benchmark samples "${name}"`);
  return samples;
}
