import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { reference as writtenReference } from "../../scripts/reference/reference.ts";
import { readContents } from "../../scripts/site/contents.ts";
import { REFERENCE_PAGES } from "../../scripts/site/pages.ts";
import { root } from "./markdown.ts";

const docs = join(root, "docs");
const reference = writtenReference();
const sections = readContents();
const listed = sections.flatMap(({ pages }) => pages);

test("docs/README.md has the sections of the site, in order", () => {
  expect(sections.map(({ title }) => title)).toEqual([
    "Start",
    "Guides",
    "Concepts",
    "Operate",
    "Deploy",
    "Reference",
    "Internals",
  ]);
});

test("docs/README.md lists every page of docs/ once", () => {
  const files = readdirSync(docs, { recursive: true, encoding: "utf8" });
  const pages = files.filter((name) => name.endsWith(".md") && name !== "README.md");
  const built = REFERENCE_PAGES.map((path) => relative("docs", path));
  const all = new Set([...pages, ...built]);
  expect(listed.map(({ file }) => file).sort()).toEqual([...all].sort());
});

test.each(listed)("docs/README.md lists $file by its title", ({ title, file }) => {
  const text = reference.get(file) ?? readFileSync(join(docs, file), "utf8");
  expect(text).toMatch(`\n# ${title}\n`.trimStart());
});

test("README.md links to docs/README.md", () => {
  expect(readFileSync(join(root, "README.md"), "utf8")).toContain("](docs/README.md)");
});

const decisions = listed.filter(({ file }) => file.startsWith("internals/decisions/"));

test.each(decisions)(
  "$file is dated, short, and has context, decision and consequence",
  ({ file }) => {
    expect(file).toMatch(/\/20\d\d-[01]\d-[0-3]\d-[\w-]+\.md$/);
    const lines = readFileSync(join(docs, file), "utf8").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(15);
    const parts = lines.flatMap((line) => /^\*\*(\w+)\.\*\* /.exec(line)?.[1] ?? []);
    expect(parts).toEqual(["Context", "Decision", "Consequence"]);
  },
);
