import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./markdown.ts";

const rowsOf = (page: string) =>
  readFileSync(join(root, page), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && line.includes("| `test/"));

const threats = rowsOf("SECURITY.md");
const mechanisms = rowsOf("docs/internals/guarantees.md");

test("there are tables of threats and of mechanisms", () => {
  expect(threats.length).toBeGreaterThan(20);
  expect(mechanisms.length).toBeGreaterThan(40);
});

test.each([...threats, ...mechanisms])("%s", (row) => {
  const [, file = "", title = ""] = /`(test\/[^`]+\.ts)`: (.+) \|$/.exec(row) ?? [];
  expect(existsSync(join(root, file)), file).toBe(true);
  expect(readFileSync(join(root, file), "utf8")).toContain(title);
});

test.each(mechanisms)("its source is there: %s", (row) => {
  const [, source = ""] = /\| `(src\/[^`]+\.ts)` \|/.exec(row) ?? [];
  expect(existsSync(join(root, source)), source).toBe(true);
});
