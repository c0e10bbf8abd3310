import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nextLine, readPath, withNextLine } from "../../scripts/reference/path.ts";
import { root } from "./markdown.ts";

const docs = join(root, "docs");
const path = readPath();
const read = (file: string) => readFileSync(join(docs, file), "utf8");

test("docs/README.md has every page of docs/ once", () => {
  const files = readdirSync(docs).filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(path.map(({ file }) => file).sort()).toEqual(files.sort());
});

test("the pages below docs/ are linked from the page that lists them", () => {
  const listed = { guides: "guides.md", platforms: "deploying.md" };
  for (const [folder, list] of Object.entries(listed)) {
    const files = readdirSync(join(docs, folder));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect(read(list)).toContain(`](${folder}/${file})`);
  }
});

test("it calls each by its title", () => {
  for (const { title, file } of path)
    expect(read(file), file).toMatch(`\n# ${title}\n`.trimStart());
});

test("its headings are the path, in order", () => {
  const headings = [...read("README.md").matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual([
    "Start",
    "Handlers",
    "Images",
    "Delivery guarantees",
    "Testing",
    "Deploy",
    "Operate",
    "Scale",
    "Upgrade",
    "Errors",
    "Reference",
  ]);
});

test.each(path)(
  "docs/$file ends with a link to the next page: else `npm run docs -- reference`",
  ({ file }) => {
    expect(read(file)).toBe(withNextLine(read(file), file));
  },
);

test("a page that came between moves the links", () => {
  const stops = ["a", "b", "c"].map((name) => ({ title: name.toUpperCase(), file: `${name}.md` }));
  expect(nextLine("a.md", stops)).toBe("\nNext: [B](b.md)\n");
  expect(nextLine("c.md", stops)).toBe("");
  const page = "# A\n\nText.\n";
  expect(withNextLine(page, "a.md", stops)).toBe("# A\n\nText.\n\nNext: [B](b.md)\n");
  const moved = withNextLine(withNextLine(page, "a.md", stops), "a.md", stops.toSpliced(1, 1));
  expect(moved).toBe("# A\n\nText.\n\nNext: [C](c.md)\n");
});

test("README.md leads there", () => {
  expect(readFileSync(join(root, "README.md"), "utf8")).toContain("](docs/README.md)");
});

test("README.md shows a bot within its first 25 lines, and the command of a clone before any other", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const top = text.split("\n").slice(0, 25).join("\n");
  expect(top).toContain("```ts\n");
  expect(top).toContain("await bot.start();\n```");
  const fromClone = text.indexOf("node create-bot.js");
  expect(fromClone).toBeGreaterThan(0);
  expect(text.indexOf("npm create service-bot")).toBeGreaterThan(fromClone);
});
