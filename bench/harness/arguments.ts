import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";
import { FEWEST_ROUNDS } from "./document.ts";

export interface Wanted {
  readonly quick: boolean;
  readonly help: boolean;
  /** Search words in lower case. Empty to run every benchmark. */
  readonly words: readonly string[];
  readonly rounds?: number;
  /** True to write the ratios into docs/internals/performance.md. */
  readonly document: boolean;
  /** True to reuse the last run's figures instead of measuring. */
  readonly fromLast: boolean;
  /** True to profile service-bot's own processes. Profiling slows them down. */
  readonly profile: boolean;
}

export const USAGE = `npm run bench -- [--quick] [--only WORDS] [--rounds N] [--document [--from-last]] [--profile]

  --quick       runs less work and fewer rounds; about five minutes for all benchmarks
  --only WORDS  runs only benchmarks whose name or title contains any of the words, separated by commas or spaces
  --rounds N    rounds per benchmark, at least 1; default 5, or 3 with --quick (fewer for benchmarks without targets)
  --document    runs everything and writes the ratios into docs/internals/performance.md
  --from-last   with --document: writes the last run's figures (bench/results/latest.json) without measuring
  --profile     prints where the measured processes spend their CPU time; saves profiles to bench/results/profiles`;

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

/** Without a benchmark, returns the default number of rounds. */
export function roundsFor({ rounds, quick }: Wanted, benchmark?: Benchmark): number {
  return rounds ?? (quick ? (benchmark?.quickRounds ?? 3) : 5);
}

function roundsOf(words: string): number {
  const rounds = Number(words);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error("--rounds must be a whole number, at least 1");
  }
  return rounds;
}

/** Rejects partial runs, because the targets only apply to a full run with the default amounts and rounds. */
function refuseHalves({ document, fromLast, quick, words, rounds, profile }: Wanted): void {
  if (fromLast && !document) throw new Error("--from-last requires --document");
  if (!document) return;
  if (quick) {
    throw new Error("--document measures the full amounts; remove --quick");
  }
  if (profile)
    throw new Error("--document: profiling slows down the measured processes; remove --profile");
  if (words.length > 0) {
    throw new Error("--document writes figures from one full run; remove --only");
  }
  if (rounds !== undefined && rounds < FEWEST_ROUNDS) {
    throw new Error(
      `--document needs at least ${FEWEST_ROUNDS} rounds, because targets are medians`,
    );
  }
  if (fromLast && rounds !== undefined) {
    throw new Error("--from-last does not measure; remove --rounds");
  }
}
