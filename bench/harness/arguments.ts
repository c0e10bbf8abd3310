import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";
import { FEWEST_ROUNDS } from "./document.ts";

/** The CLI options. */
export interface Wanted {
  readonly quick: boolean;
  readonly help: boolean;
  /** In lower case. Empty for all benchmarks. */
  readonly words: readonly string[];
  readonly rounds?: number;
  /** True to write the figures into docs/internals/performance.md. */
  readonly document: boolean;
  /** True to use the figures of the last run and measure nothing. */
  readonly fromLast: boolean;
  /** True to profile service-bot's own processes, which slows them down. */
  readonly profile: boolean;
}

export const USAGE = `npm run bench -- [--quick] [--only WORDS] [--rounds N] [--document [--from-last]] [--profile]

  --quick       smaller amounts and fewer rounds: about five minutes for all
  --only WORDS  the benchmarks whose name or title holds one of these words, separated by commas or spaces
  --rounds N    rounds of each benchmark, from 1 up; default 5, with --quick 3, or fewer where no target is set
  --document    runs everything and writes the figures into docs/internals/performance.md
  --from-last   with --document: writes those of the last run, bench/results/latest.json, and measures nothing
  --profile     prints where the processor's time goes in what is measured; profiles are in bench/results/profiles`;

/** @throws {Error} if a flag or its value is invalid */
export function parseArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      rounds: { type: "string" },
      document: { type: "boolean", default: false },
      "from-last": { type: "boolean", default: false },
      profile: { type: "boolean", default: false },
    },
  });
  const { quick, help, only, document, profile, "from-last": fromLast } = values;
  const rounds = values.rounds === undefined ? {} : { rounds: roundsOf(values.rounds) };
  const words = only
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const wanted = { quick, help, words, document, fromLast, profile, ...rounds };
  refuseHalves(wanted);
  return wanted;
}

/** Returns a benchmark's number of rounds, or without a benchmark the usual number. */
export function roundsFor({ rounds, quick }: Wanted, benchmark?: Benchmark): number {
  return rounds ?? (quick ? (benchmark?.quickRounds ?? 3) : 5);
}

function roundsOf(words: string): number {
  const rounds = Number(words);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error("--rounds must be a whole number from 1 up");
  }
  return rounds;
}

/** Refuses partial runs, because the targets apply to a full run with the default amounts and rounds. */
function refuseHalves({ document, fromLast, quick, words, rounds, profile }: Wanted): void {
  if (fromLast && !document) throw new Error("--from-last goes with --document");
  if (!document) return;
  if (quick) {
    throw new Error("--document: the amounts of --quick are too small for it; leave --quick out");
  }
  if (profile) throw new Error("--document: a profile slows down what it measures; leave it out");
  if (words.length > 0) {
    throw new Error("--document: ratios of several runs do not stand together; leave --only out");
  }
  if (rounds !== undefined && rounds < FEWEST_ROUNDS) {
    throw new Error(`--document: targets are medians of at least ${FEWEST_ROUNDS} rounds`);
  }
  if (fromLast && rounds !== undefined) {
    throw new Error("--from-last measures nothing; leave --rounds out");
  }
}
