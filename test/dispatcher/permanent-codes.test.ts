import { readFileSync } from "node:fs";
import { expect, expectTypeOf, test } from "vitest";
import { permanence } from "../faces/dispatcher.ts";
import type { ErrorCode } from "../faces/errors.ts";

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

test("docs/handlers.md lists the permanent codes, and no other", () => {
  const listed = codesIn("docs/handlers.md", "### What is not tried again");
  const permanent = Object.entries(permanence).filter(([, decision]) => decision === "permanent");
  expect(listed.sort()).toEqual(permanent.map(([code]) => code).sort());
});

test("each code has a decision, and a new one does not compile without", () => {
  expectTypeOf<keyof typeof permanence>().toEqualTypeOf<ErrorCode>();
  expectTypeOf(permanence).toEqualTypeOf<Readonly<Record<ErrorCode, "permanent" | "transient">>>();
});
