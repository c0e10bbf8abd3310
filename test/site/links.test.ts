import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { homepage } from "../../scripts/site/homepage.ts";
import { siteUrl, withHomepage, withPageUrls, withSiteLinks } from "../../scripts/site/links.ts";
import { root } from "../docs/markdown.ts";
import { pageUrl } from "../faces/core.ts";
import { linkProblems, relativeLinks } from "./site-links.ts";

function filesBelow(folder: string, fits: RegExp): { path: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && fits.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path: path.slice(root.length), text: readFileSync(path, "utf8") }));
}

test("the site has an https address without a slash at the end", () => {
  expect(homepage).toMatch(/^https:\/\/\S+[^/]$/);
});

describe("what users read without docs/ next to it", () => {
  test("messages name pages by their URLs, whose pages and headings exist", () => {
    const sources = filesBelow("src", /\.tsx?$/).map(({ path, text }) => {
      const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
      return { path, code: code.replaceAll(/pageUrl\("([^"]+)"\)/g, (_, page) => pageUrl(page)) };
    });
    const found = sources.flatMap(({ path, code }) =>
      linkProblems(code).map((problem) => `${path}: ${problem}`),
    );
    expect(found).toEqual([]);
    const computed = sources.filter(({ code }) => /(?<!function )\bpageUrl\(/.test(code));
    expect(computed.map(({ path }) => path)).toEqual([]);
    expect(sources.filter(({ code }) => code.includes(homepage)).length).toBeGreaterThan(3);
  });

  test("templates and files for operators name pages by their URLs (npm run docs -- addresses)", () => {
    const templates = filesBelow("templates", /./);
    const found = templates.flatMap(({ path, text }) =>
      linkProblems(text).map((problem) => `${path}: ${problem}`),
    );
    expect(found).toEqual([]);
    expect(templates.filter(({ text }) => text.includes(homepage)).length).toBeGreaterThan(3);
  });

  test.each(["README.md", "CHANGELOG.md", join("src", "create", "README.md")])(
    "%s has only links to the site and to other sites when it is packed",
    (path) => {
      const packed = withSiteLinks(readFileSync(join(root, path), "utf8"));
      expect([...linkProblems(packed), ...relativeLinks(packed)]).toEqual([]);
      // Links must not get lost.
      expect(packed).toMatch(/\]\(https:/);
    },
  );
});

test.each([
  ["docs/operate/alerts.md#servicebotdown", "/operate/alerts.html#servicebotdown"],
  ["docs/README.md", "/contents.html"],
  ["docs/guides/README.md", "/guides/"],
  ["CONTRIBUTING.md", "/contributing.html"],
  ["README.md", "/"],
  ["docs/images/event.svg", "/images/event.svg"],
])("the URL of %s is %s on the site", (target, path) => {
  expect(siteUrl("README.md", target)).toBe(`${homepage}${path}`);
});

test("a message names the page that the site serves", () => {
  const page = siteUrl("README.md", "docs/operate/alerts.md#servicebotdown");
  expect(pageUrl("operate/alerts#servicebotdown")).toBe(page);
  expect(pageUrl("operate/alerts")).toBe(siteUrl("README.md", "docs/operate/alerts.md"));
});

test("a link to a file that is not on the site becomes plain text", () => {
  expect(withSiteLinks("[MIT](LICENSE), [npm](https://www.npmjs.com)")).toBe(
    "MIT, [npm](https://www.npmjs.com)",
  );
});

test("a docstring's page becomes its URL", () => {
  expect(withPageUrls("See docs/operate/backup.md#postgresql, or not.")).toBe(
    `See ${homepage}/operate/backup.html#postgresql, or not.`,
  );
});

test("after a move, the new address replaces the old one, and other sites stay", () => {
  const old = "https://old.example.org/bot";
  const text = (base: string) =>
    `${base}/operate/alerts.html#servicebotdown, (${base}/guides/) https://example.org/operate/other.html`;
  expect(linkProblems(text(old))).toHaveLength(1);
  expect(withHomepage(text(old))).toBe(text(homepage));
  expect(withHomepage(text(homepage))).toBe(text(homepage));
});

test.each([
  "docs/operate/alerts.md",
  "configuration.md",
  `${homepage}/operate/nowhere.html`,
  `${homepage}/operate/alerts.html#nowhere`,
  `${homepage}/images/none.png`,
])("%s is found", (lost) => {
  expect(linkProblems(`See ${lost}.`)).toEqual([lost]);
});
