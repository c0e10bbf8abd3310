import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { deadLinks } from "../../scripts/site/dead-links.ts";
import { homepage } from "../../scripts/site/homepage.ts";
import { pageOf, siteTarget } from "../../scripts/site/pages.ts";
import { codeBlocks, root } from "../docs/markdown.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test.each([
  ["docs/README.md", "contents.md"],
  ["docs/guides/README.md", "guides/index.md"],
  ["docs/guides/state.md", "guides/state.md"],
  ["SECURITY.md", "security.md"],
  ["README.md", undefined],
  ["templates/starter/README.md", undefined],
])("the page of %s is %s", (file, page) => {
  expect(pageOf(file)).toBe(page);
});

const repository = "https://github.com/someone/service-bot";

test.each([
  ["state.md#reading", "/guides/state.md#reading"],
  ["../README.md", "/contents.md"],
  ["../../CHANGELOG.md", "/changelog.md"],
  ["../../README.md", "/"],
  ["#here", "#here"],
  ["https://nodejs.org/", "https://nodejs.org/"],
  [`${homepage}/reference/api/`, "/reference/api/index.md"],
  [`${homepage}/reference/api/client.html#client`, "/reference/api/client.md#client"],
  ["../../templates/operations/", `${repository}/blob/main/templates/operations/`],
])("a link of a guide to %s leads to %s", (target, expected) => {
  expect(siteTarget("docs/guides/reminders.md", target, { repository })).toBe(expected);
});

test("a link to a file that is no page needs the address of the repository", () => {
  expect(siteTarget("docs/guides/state.md", "../../LICENSE")).toBeUndefined();
});

test("a dead link, a lost heading and an empty page are found in a built site", () => {
  const folder = temporaryFolder();
  const write = (name: string, html: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), html);
  };
  const good = '<a href="/bot/a/b.html#c"></a><a href="../index.html"></a><img src="/bot/x.svg">';
  write("index.html", '<h1 id="top"></h1><a href="#top"></a><a href="https://nodejs.org/"></a>');
  write("a/b.html", `<h1 id="c"></h1>${good}`);
  write(
    "a/bad.html",
    '<h1></h1><a href="b.html#d"></a><a href="c.html"></a><a href="/a/b.html"></a>',
  );
  write("a/empty.html", "");
  write("x.svg", "");
  expect(deadLinks(folder, "/bot/").sort()).toEqual([
    "a/bad.html: /a/b.html",
    "a/bad.html: b.html#d",
    "a/bad.html: c.html",
    "a/empty.html: has no heading",
  ]);
});

test("the first page has the sentence, the bot and the guarantees of README.md", () => {
  const read = (path: string) => ({ path, text: readFileSync(join(root, path), "utf8") });
  const [readme, first] = [read("README.md"), read("site/index.md")];
  const joined = (text: string) => text.replaceAll(/\s+/g, " ");
  const sentence = readme.text.split("\n\n")[1] ?? "";
  expect(joined(first.text)).toContain(joined(sentence));
  const [bot] = codeBlocks(readme).filter(({ language }) => language === "ts");
  expect(codeBlocks(first).map(({ code }) => code)).toContain(bot?.code);
  const guarantees = [
    ...readme.text.matchAll(/^- \[(.+)\]\(docs\/concepts\/guarantees\.md#(.+)\): (.+)$/gm),
  ];
  expect(guarantees.length).toBe(5);
  for (const [, title, anchor, details = ""] of guarantees) {
    const sentence = details.charAt(0).toUpperCase() + details.slice(1);
    expect(first.text).toContain(
      `  - title: ${title}\n    details: ${sentence}\n    link: /concepts/guarantees#${anchor}\n`,
    );
  }
});
