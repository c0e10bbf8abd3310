import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readContents } from "../../scripts/reference/contents.ts";
import { root } from "./markdown.ts";

const docs = join(root, "docs");
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
  expect(listed.map(({ file }) => file).sort()).toEqual(pages.sort());
});

test.each(listed)("docs/README.md lists $file by its title", ({ title, file }) => {
  expect(readFileSync(join(docs, file), "utf8")).toMatch(`\n# ${title}\n`.trimStart());
});

test("README.md links to docs/README.md", () => {
  expect(readFileSync(join(root, "README.md"), "utf8")).toContain("](docs/README.md)");
});
