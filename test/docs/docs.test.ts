import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withQuotes } from "../../scripts/tables/quotes.ts";
import { withRows } from "../../scripts/tables/table.ts";
import { docsTables } from "../../scripts/tables/tables.ts";
import { settings } from "../faces/bot.ts";
import { links, pages, prose, root } from "./markdown.ts";

test.each(pages)("$path links to files that are there", (page) => {
  expect(links(page).filter((target) => !existsSync(target))).toEqual([]);
});

/** Drafts use these placeholders. */
const placeholder =
  /\b(?:TODO|TBD|FIXME|XX+|FIGURES?|NUMBERS?|RATIOS?|VALUES?|TIMES?|SECONDS|MINUTES|SIZES?|COUNTS?|DATES?|VERSIONS?)\b/g;

test.each(pages)("$path is finished: no word in capitals stands for a figure", (page) => {
  expect(prose(page).match(placeholder)).toBeNull();
});

test("a draft is not finished", () => {
  const text =
    "All of it takes about TIME minutes: FIGURES. `TIME` in code, TIMEOUT and JSON are words.";
  expect(prose({ path: "draft.md", text }).match(placeholder)).toEqual(["TIME", "FIGURES"]);
});

describe("generated tables", () => {
  test.each(docsTables)("are in $page; if not, run `npm run docs -- tables`", (table) => {
    const text = readFileSync(join(root, table.page), "utf8");
    expect(withRows(text, table)).toBe(text);
    expect(() => withRows("no table", table)).toThrow("has no table");
  });
});

test.each(pages.filter(({ text }) => text.includes("<!-- quoted: ")))(
  "$path quotes the files as they are; if not, run `npm run docs -- tables`",
  ({ text }) => expect(withQuotes(text)).toBe(text),
);

describe("docs/reference/configuration.md", () => {
  test("agrees with the starter's .env.example on the variables", () => {
    const stored = readFileSync(join(root, "templates/starter/_env.example"), "utf8");
    // Keep only the lines that a bot on SQLite gets.
    const example = stored.replace(/^# \{\{#postgres\}\}.*?\{\{\/postgres\}\}\n/ms, "");
    const names = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(names).toEqual(Object.values(settings).map(({ variable }) => variable));
  });
});
