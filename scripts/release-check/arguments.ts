import { parseArgs } from "node:util";
import { type Cell, cells, chooseCells, sampleCells } from "./cells.ts";

export interface Wanted {
  readonly help: boolean;
  readonly cells: readonly Cell[];
  readonly timings: boolean;
  /** True if a ratio above the limit is a failure. Disable this on a shared machine. */
  readonly judged: boolean;
}

export const USAGE = `npm run release:check -- [--only CELLS] [--sample] [--quick] [--no-limit]

  Packs both packages and publishes them to a registry on loopback. Then follows the steps of a newcomer in an empty
  directory: create, test, typecheck, dev, and a message that the bot must answer. The cells cover every template,
  store, Node and package manager. At the end, times the scaffolder against create-vite.

  --only CELLS  node26, minimal/postgres, starter/sqlite/node24/npm; separate several with commas; no timings
  --sample      a few cells that cover each template, store, Node and package manager; with timings
  --quick       one cell, no timings
  --no-limit    print the timings without judging them, for machines with other load`;

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
    throw new Error("--only, --sample and --quick cannot be combined.");
  }
  const patterns = only.split(/[\s,]+/).filter(Boolean);
  if (patterns.length > 0) return { help, cells: chooseCells(patterns), timings: false, judged };
  if (quick) return { help, cells: sampleCells().slice(0, 1), timings: false, judged };
  return { help, cells: sample ? sampleCells() : cells, timings: true, judged };
}
