import { parseArgs } from "node:util";

/** What was asked for on the command line. */
export interface Wanted {
  readonly quick: boolean;
  readonly help: boolean;
  /** Lower case; empty means all benchmarks. */
  readonly words: readonly string[];
  readonly rounds: number;
}

export const USAGE = `npm run bench -- [--quick] [--only WORDS] [--rounds N]

  --quick       smaller amounts and fewer rounds: under two minutes for all
  --only WORDS  the benchmarks whose name or title holds one of these words, separated by commas or spaces
  --rounds N    rounds of each benchmark, from 1 up; default 7, with --quick 3`;

/** @throws {Error} a flag or its value cannot be used */
export function parseArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      rounds: { type: "string" },
    },
  });
  const { quick, help, only } = values;
  const rounds = Number(values.rounds ?? (quick ? 3 : 7));
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error("--rounds must be a whole number from 1 up");
  }
  return {
    quick,
    help,
    rounds,
    words: only
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  };
}
