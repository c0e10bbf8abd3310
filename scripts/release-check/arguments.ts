import { parseArgs } from "node:util";
import { type Cell, cells, chooseCells, sampleCells } from "./cells.ts";

/** Parsed command line. */
export interface Wanted {
  readonly help: boolean;
  readonly cells: readonly Cell[];
  /** Whether to time the scaffolder against its peer. */
  readonly timings: boolean;
  /** Whether a ratio above the limit is a failure. Disable on a shared machine. */
  readonly judged: boolean;
}

export const USAGE = `npm run release:check -- [--only CELLS] [--sample] [--quick] [--no-limit]

  Packs both packages, publishes them to a registry on loopback, and does in an empty directory what a newcomer
  does: create, test, typecheck, dev, and a message that must be answered. In each cell: every template, store, Node
  and package manager. Then it times the scaffolder beside create-vite.

  --only CELLS  node26, minimal/postgres, starter/sqlite/node24/npm; several with commas; no timings
  --sample      few cells, in which each template, store, Node and package manager is met; and the timings
  --quick       one cell, no timings
  --no-limit    the timings are printed and not judged: for machines that others use at the same time`;

/** @throws {Error} if a flag or its value is invalid */
export function parseArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", default: false },
      "no-limit": { type: "boolean", default: false },
      only: { type: "string", default: "" },
      quick: { type: "boolean", default: false },
      sample: { type: "boolean", default: false },
    },
  });
  const { help, only, quick, sample } = values;
  const judged = !values["no-limit"];
  if ([only !== "", quick, sample].filter(Boolean).length > 1) {
    throw new Error("--only, --sample and --quick exclude each other.");
  }
  const patterns = only.split(/[\s,]+/).filter(Boolean);
  if (patterns.length > 0) return { help, cells: chooseCells(patterns), timings: false, judged };
  if (quick) return { help, cells: sampleCells().slice(0, 1), timings: false, judged };
  return { help, cells: sample ? sampleCells() : cells, timings: true, judged };
}
