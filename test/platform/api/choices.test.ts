import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync(
  new URL("../../../docs/internals/local-platform.md", import.meta.url),
  "utf8",
);

test("every choice on the page has exactly one test, and every test is on the page", () => {
  const rows = [...page.matchAll(/^\| (?!detail )([^|]+) \|/gm)].map(([, detail]) => detail);
  const tested = readdirSync(import.meta.dirname).flatMap((file) => {
    const source = readFileSync(new URL(file, import.meta.url), "utf8");
    return [...source.matchAll(/^choice\(\s*"([^"]+)"/gm)].map(([, detail]) => detail);
  });
  expect(rows.length).toBeGreaterThan(30);
  expect(tested.toSorted()).toEqual(rows.toSorted());
});
