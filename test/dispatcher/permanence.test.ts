import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { permanence } from "../faces/dispatcher.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** The codes of the table rows between two headings of a page. */
function codesIn(page: string, heading: string): string[] {
  const [, section = ""] = read(page).split(`\n${heading}\n`);
  const [table = ""] = section.split(/\n#/);
  const rows = [...table.matchAll(/^\| (.*?) \|/gm)];
  return rows.flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => code),
  );
}

test("every code of docs/errors.md is decided, with a reason", () => {
  const codes = [...read("docs/errors.md").matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
    ([, code]) => code,
  );
  expect(codes.length).toBeGreaterThan(50);
  expect(Object.keys(permanence).sort()).toEqual(codes.sort());
  for (const [code, { reason }] of Object.entries(permanence)) {
    expect(reason.length, code).toBeGreaterThan(10);
  }
});

test("docs/handlers.md lists the permanent codes, and no other", () => {
  const permanent = Object.keys(permanence).filter(
    (code) => permanence[code as keyof typeof permanence].isPermanent,
  );
  const listed = codesIn("docs/handlers.md", "### What is not tried again");
  expect(listed.sort()).toEqual(permanent.sort());
});
