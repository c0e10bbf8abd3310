import { type Store, stores, type Template, templates } from "../../src/create/options.ts";
import { type NodeName, nodes } from "../registry/toolchain.ts";

export interface Cell {
  readonly template: Template;
  readonly store: Store;
  readonly node: NodeName;
  readonly packageManager: "npm" | "pnpm";
}

/** Too old for bots, so the scaffolder adds Node to their dependencies. */
const TOO_OLD: NodeName = "node20";

const packageManagers: readonly Cell["packageManager"][] = ["npm", "pnpm"];

const places: readonly Pick<Cell, "node" | "packageManager">[] = packageManagers.flatMap(
  (packageManager) =>
    (Object.keys(nodes) as NodeName[])
      .filter((node) => node !== TOO_OLD)
      .map((node) => ({ node, packageManager })),
);

/** Every template with every store, Node and package manager, and each template once with the old Node. */
export const cells: readonly Cell[] = templates.flatMap((template): Cell[] => [
  ...stores.flatMap((store) => places.map((place) => ({ template, store, ...place }))),
  { template, store: stores[0], node: TOO_OLD, packageManager: "npm" },
]);

/** Returns a name such as `starter/sqlite/node24/npm`. */
export function nameOf({ template, store, node, packageManager }: Cell): string {
  return [template, store, node, packageManager].join("/");
}

/**
 * Returns the cells that match any of the patterns. A pattern is one or more names separated by slashes, such as
 * `node24`, `minimal/postgres` or `starter/sqlite/node26/npm`.
 *
 * @throws {Error} if a pattern matches no cell
 */
export function chooseCells(patterns: readonly string[]): readonly Cell[] {
  const fits = (cell: Cell, pattern: string) => {
    const parts = nameOf(cell).split("/");
    return pattern.split("/").every((part) => parts.includes(part));
  };
  const idle = patterns.find((pattern) => !cells.some((cell) => fits(cell, pattern)));
  if (idle !== undefined) {
    const names = cells.map((cell) => `  ${nameOf(cell)}`).join("\n");
    throw new Error(`--only: no cell matches "${idle}"; there are:\n${names}`);
  }
  return cells.filter((cell) => patterns.some((pattern) => fits(cell, pattern)));
}

/** Covers each template, store, Node and package manager with few cells. */
export function sampleCells(): readonly Cell[] {
  const unmet = new Set(cells.flatMap((cell) => nameOf(cell).split("/")));
  const gain = (cell: Cell) =>
    nameOf(cell)
      .split("/")
      .filter((part) => unmet.has(part)).length;
  const chosen: Cell[] = [];
  while (unmet.size > 0) {
    const best = cells.reduce((most, cell) => (gain(cell) > gain(most) ? cell : most));
    for (const part of nameOf(best).split("/")) unmet.delete(part);
    chosen.push(best);
  }
  return chosen;
}
