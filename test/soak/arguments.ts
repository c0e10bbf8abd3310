import { parseArgs } from "node:util";

/** What was asked for on the command line. */
export interface Wanted {
  readonly minutes: number;
  /** Events per second. */
  readonly rate: number;
  readonly seed?: string;
  readonly json: boolean;
  /** The figures go into docs/reliability.md, the plot into docs/images/soak.svg. */
  readonly document: boolean;
  /** They are those of the last run, and nothing is run. */
  readonly fromLast: boolean;
  readonly help: boolean;
}

/** What is documented is a run in which everything that is watched can come to rest. */
const DOCUMENTED_MINUTES = 120;

export const USAGE = `npm run soak -- [--minutes 10] [--rate 20] [--seed N] [--json] [--document [--from-last]]

  --minutes 10  how long, from 0.1 up; the inbox is swept every ten minutes, so its file is judged from 90 on
  --rate 20     events per second, from 1 to 200
  --seed N      the choices of a run that was before; a new seed otherwise, which is printed
  --json        prints the verdict as JSON
  --document    runs two hours, or --minutes from there up, and writes the figures into docs/reliability.md and the plot
  --from-last   with --document: writes those of the last run, test/soak/results/latest.json, and runs nothing`;

/** @throws {Error} a flag or its value cannot be used */
export function parseArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string" },
      rate: { type: "string", default: "20" },
      seed: { type: "string" },
      json: { type: "boolean", default: false },
      document: { type: "boolean", default: false },
      "from-last": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { json, document, "from-last": fromLast, help, seed } = values;
  const usual = document ? DOCUMENTED_MINUTES : 10;
  const minutes = numberIn("minutes", values.minutes ?? String(usual), 0.1, 10_000);
  const rate = numberIn("rate", values.rate, 1, 200);
  if (fromLast && !document) throw new Error("--from-last goes with --document");
  if (document && !fromLast) requireWhole(minutes);
  return { minutes, rate, json, document, fromLast, help, ...(seed === undefined ? {} : { seed }) };
}

/** @throws {Error} a run of so many minutes is too short to stand in the documentation */
export function requireWhole(minutes: number): void {
  if (minutes >= DOCUMENTED_MINUTES) return;
  throw new Error(`--document: ${minutes} minutes are too few, it takes ${DOCUMENTED_MINUTES}`);
}

function numberIn(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most) return value;
  throw new Error(`--${name} must be a number from ${least} to ${most} (got "${text}")`);
}
