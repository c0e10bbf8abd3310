import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { permanentCodes } from "../faces/dispatcher.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

function codesIn(page: string, heading: string): string[] {
  const [, section = ""] = read(page).split(`\n${heading}\n`);
  const [table = ""] = section.split(/\n#/);
  const rows = [...table.matchAll(/^\| (.*?) \|/gm)];
  return rows.flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => code),
  );
}

test("docs/reference/handlers.md lists the permanent codes, and no other", () => {
  const listed = codesIn("docs/reference/handlers.md", "### Permanent errors");
  expect(listed.sort()).toEqual([...permanentCodes].sort());
});
