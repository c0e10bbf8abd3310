import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../root.ts";
import { homepage } from "./homepage.ts";

/** Pages outside docs/: their path on the site, by path in the repository. */
const OTHERS: Readonly<Record<string, string>> = {
  "site/index.md": "index.md",
  "docs/README.md": "contents.md",
  "CHANGELOG.md": "changelog.md",
  "CONTRIBUTING.md": "contributing.md",
  "SECURITY.md": "security.md",
  "bench/README.md": "internals/benchmarks.md",
};

/** The API reference, which the site's build writes from the docstrings. It is not in git. */
export const REFERENCE_PAGES: readonly string[] = [
  "docs/reference/api/README.md",
  "docs/reference/api/client.md",
  "docs/reference/api/platform.md",
  "docs/reference/api/service-bot.md",
  "docs/reference/api/testing.md",
];

export const EXCLUDED: readonly string[] = [
  "README.md",
  "bench/!(README.md)",
  "bench/*/**",
  "examples/**",
  "scripts/**",
  "site/!(index.md)",
  "site/*/**",
  "src/**",
  "templates/**",
  "test/**",
];

/** Returns the paths of all pages in the repository, and of the API reference. */
export function pageFiles(): string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`);
  return [...new Set([...Object.keys(OTHERS), ...docs, ...REFERENCE_PAGES])];
}

export function pageOf(file: string): string | undefined {
  const other = OTHERS[file];
  if (other !== undefined) return other;
  if (!file.startsWith("docs/") || !file.endsWith(".md")) return undefined;
  return file.slice("docs/".length).replace(/(^|\/)README\.md$/, "$1index.md");
}

export interface Place {
  /** URL of the repository, such as `https://github.com/someone/service-bot`. */
  readonly repository?: string | undefined;
}

/**
 * Returns a link's target on the site. Links to files that are not pages lead to the repository.
 *
 * @param file path of the page with the link
 * @returns `undefined` if the target is in the repository and the repository's URL is unknown
 */
export function siteTarget(
  file: string,
  target: string,
  { repository }: Place = {},
): string | undefined {
  if (target.startsWith(`${homepage}/`)) return pageAt(target.slice(homepage.length));
  if (/^[a-z]+:|^#|^\//.test(target)) return target;
  const [path = "", anchor] = target.split("#");
  const found = posix.join(posix.dirname(file), decodeURI(path));
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (found === "README.md") return "/";
  const page = pageOf(found);
  if (page !== undefined) return `/${page}${hash}`;
  return repository === undefined ? undefined : `${repository}/blob/main/${found}${hash}`;
}

/** Returns the page of a URL's path. Pages name the API reference by its URL, because it is not in git. */
function pageAt(path: string): string {
  return path.replace(/\.html(?=#|$)/, ".md").replace(/\/(?=#|$)/, "/index.md");
}
