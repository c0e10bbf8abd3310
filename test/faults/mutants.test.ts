import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allMutants } from "./mutants/list/index.ts";

const ROOT = new URL("../../", import.meta.url);

test("each mutant still fits the source, and changes it", () => {
  const sources = new Map<string, string>();
  const misfits = allMutants.flatMap(({ name, file, find, replace }) => {
    const source = sources.get(file) ?? readFileSync(fileURLToPath(new URL(file, ROOT)), "utf8");
    sources.set(file, source);
    const times = source.split(find).length - 1;
    if (times !== 1) return [`${name}: its text is ${times} times in ${file}`];
    return find === replace ? [`${name}: it changes nothing`] : [];
  });
  expect(misfits).toEqual([]);
});
