import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./markdown.ts";

const rows = readFileSync(join(root, "SECURITY.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.includes("`test/"));

test("there is a table of threats", () => {
  expect(rows.length).toBeGreaterThan(20);
});

test.each(rows)("%s", (row) => {
  const [, file = "", title = ""] = /`(test\/[^`]+\.test\.ts)`: (.+) \|$/.exec(row) ?? [];
  expect(existsSync(join(root, file)), file).toBe(true);
  expect(readFileSync(join(root, file), "utf8")).toContain(title);
});
