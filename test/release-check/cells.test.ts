import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseArguments } from "../../scripts/release-check/arguments.ts";
import { cells, chooseCells, nameOf, sampleCells } from "../../scripts/release-check/cells.ts";
import { stores, templates } from "../faces/create.ts";

const names = cells.map(nameOf);

describe("the cells", () => {
  test("each template meets each store on each Node with each package manager", () => {
    for (const template of templates) {
      for (const store of stores) {
        for (const node of ["node22", "node24", "node26"]) {
          for (const packageManager of ["npm", "pnpm"]) {
            expect(names).toContain(`${template}/${store}/${node}/${packageManager}`);
          }
        }
      }
    }
    expect(new Set(names).size).toBe(names.length);
  });

  test("every template that is stored can be chosen", () => {
    const stored = readdirSync(join(import.meta.dirname, "../../templates"));
    // What a store adds to any of them lies in a folder beside them, and what is for operators in another one.
    expect([...templates, "stores", "operations"].sort()).toEqual(stored.sort());
  });

  test("the scaffolder is run on a Node that is too old for bots", () => {
    for (const template of templates) expect(names).toContain(`${template}/sqlite/node20/npm`);
  });
});

describe("a choice of cells", () => {
  test("by some of the names, in any order, or by all of them", () => {
    expect(chooseCells(["npm/node26/sqlite/starter"]).map(nameOf)).toEqual([
      "starter/sqlite/node26/npm",
    ]);
    const chosen = chooseCells(["node20", "pnpm"]).map(nameOf);
    expect(chosen).toEqual(names.filter((name) => /node20|\/pnpm/.test(name)));
  });

  test("of none is refused, with what there is", () => {
    expect(() => chooseCells(["node24", "node25"])).toThrow(
      /fits "node25"[\s\S]*starter\/sqlite\/node24\/npm/,
    );
  });

  test("as a sample leaves out no template, store, Node or package manager", () => {
    const parts = (list: readonly string[]) => new Set(list.flatMap((name) => name.split("/")));
    const sample = sampleCells().map(nameOf);
    expect(parts(sample)).toEqual(parts(names));
    expect(sample.length).toBeLessThan(names.length);
  });
});

describe("the arguments", () => {
  test("all cells and the timings by default", () => {
    expect(parseArguments([])).toEqual({ help: false, cells, timings: true, judged: true });
    expect(parseArguments(["--no-limit"])).toMatchObject({ timings: true, judged: false });
  });

  test("--quick is one cell, and --only and --quick leave the timings out", () => {
    expect(parseArguments(["--quick"])).toMatchObject({ cells: { length: 1 }, timings: false });
    expect(parseArguments(["--only", "node26"])).toMatchObject({ timings: false });
    expect(parseArguments(["--sample"])).toMatchObject({ cells: sampleCells(), timings: true });
  });

  test("two choices at once are refused", () => {
    expect(() => parseArguments(["--quick", "--sample"])).toThrow("exclude each other");
  });
});
