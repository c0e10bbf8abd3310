import type { Figure, Target } from "./benchmark.ts";
import type { Measured } from "./rounds.ts";

export interface Result {
  readonly figure: string;
  readonly unit: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Peer or limit that `ratio` refers to. Absent if the figure is not compared. */
  readonly against?: string;
  /** Median of the per-round ratios. */
  readonly ratio?: number;
  readonly target?: Target;
  readonly rounds: readonly number[];
}

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

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error("an empty list has no median");
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
  // Compare within each round, because a slow phase of the machine affects both sides equally.
  const best = own.map((_, round) => Math.max(...others.map((each) => each[round] ?? Number.NaN)));
  const ratios = own.map((value, round) => value / (best[round] ?? Number.NaN));
  return { against: nameOf(peers, figures, measured), ratio: median(ratios) };
}

/** Returns the peer with the highest median. */
function nameOf(peers: readonly string[], figures: readonly Figure[], measured: Measured): string {
  const sorted = peers.toSorted(
    (a, b) => median(samplesOf(b, measured)) - median(samplesOf(a, measured)),
  );
  const [best = ""] = sorted;
  return figures.find(({ sample }) => sample === best)?.name ?? best;
}

function samplesOf(name: string, measured: Measured): readonly number[] {
  const samples = measured.get(name);
  if (samples === undefined) throw new Error(`no subject returns a sample named "${name}"`);
  return samples;
}
