import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { homepage } from "../../scripts/site/homepage.ts";
import { leadsToPage } from "../site/site-links.ts";
import { anchorsOf, links, type Page, pages, root, targets } from "./markdown.ts";
import { referencePages } from "./reference-pages.ts";

const HOSTS = [
  "opentelemetry.io",
  "core.telegram.org",
  "docs.npmjs.com",
  "docs.slack.dev",
  "getpino.io",
  "github.com",
  "grammy.dev",
  "keepachangelog.com",
  "litestream.io",
  "modelcontextprotocol.io",
  "nodejs.org",
  "prometheus.io",
  "semver.org",
  "standardschema.dev",
  "www.npmjs.com",
];

const all = [...pages, ...referencePages];
const byPath = new Map(all.map((page) => [page.path, page]));

test.each(all)("$path links to headings that are there", (page) => {
  expect(lostAnchors(page)).toEqual([]);
});

test.each(referencePages)("$path links to pages that are there", (page) => {
  const lost = links(page).filter((target) => !byPath.has(relative(root, target)));
  expect(lost).toEqual([]);
});

test.each(pages)(
  "$path names the API reference, which is not in git, by its URL on the site",
  (page) => {
    const own = targets(page).filter((target) => target.startsWith(homepage));
    expect(own.filter((target) => !leadsToPage(target))).toEqual([]);
  },
);

function lostAnchors(page: Page): string[] {
  return targets(page)
    .filter((target) => target.includes("#") && !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = "", anchor = ""] = target.split("#");
      const path = file === "" ? page.path : join(dirname(page.path), file);
      const there = byPath.get(path);
      // Headings outside the documentation are not checked.
      return there === undefined ? path.endsWith(".md") : !anchorsOf(there).has(anchor);
    });
}

test.each(all)("$path has external links only by https, to listed hosts", ({ path, text }) => {
  const addresses = targets({ path, text })
    .filter((target) => /^[a-z]+:/.test(target))
    .filter((target) => !target.startsWith(`${homepage}/`));
  const odd = addresses.filter((address) => {
    const url = URL.parse(address);
    return url?.protocol !== "https:" || !HOSTS.includes(url.hostname);
  });
  expect(odd).toEqual([]);
});

test("every host that is allowed is linked to", () => {
  const text = pages.map((page) => page.text).join("\n");
  expect(HOSTS.filter((host) => !text.includes(`](https://${host}`))).toEqual([]);
});

test("every picture is there, is used, and has words for those who do not see it", () => {
  const used = pages.flatMap((page) =>
    [...page.text.matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, words = "", target = ""]) => ({
      words,
      path: join(dirname(page.path), target),
    })),
  );
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter(({ words }) => words.length < 10)).toEqual([]);
  const files = readdirSync(join(root, "docs/images")).map((name) => join("docs/images", name));
  expect([...new Set(used.map(({ path }) => path))].sort()).toEqual(files.sort());
});

test("pages that the sources name are there, with their headings", () => {
  const sources = ["src", "templates", "scripts", "bench"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:ts|js|ya?ml|json)$/.test(name) && !name.includes("node_modules"))
      .map((name) => join(root, folder, name)),
  );
  const lost = sources.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/\bdocs\/([\w/-]+\.md)(?:#([\w-]+))?/g)]
      .filter(([, file = "", anchor]) => {
        const page = byPath.get(join("docs", file));
        return page === undefined || (anchor !== undefined && !anchorsOf(page).has(anchor));
      })
      .map(([target]) => `${relative(root, path)}: ${target}`),
  );
  expect(lost).toEqual([]);
});

test("a heading becomes an anchor as on GitHub", () => {
  const text = [
    "# `service-bot inbox`: what it does, and how",
    "## Set-up & [links](x.md)",
    "## Again",
    "```text\n# no heading\n```",
    "### Again",
    "### A_b c1",
  ].join("\n");
  expect([...anchorsOf({ path: "x.md", text })]).toEqual([
    "service-bot-inbox-what-it-does-and-how",
    "set-up--links",
    "again",
    "again-1",
    "a_b-c1",
  ]);
  const page = {
    path: "docs/reference/errors.md",
    text: "[a](#nowhere), [b](../operate/overview.md#dead-letters)",
  };
  expect(lostAnchors(page)).toEqual(["#nowhere"]);
});
