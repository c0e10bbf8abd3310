import { homepage } from "./homepage.ts";
import { pageFiles, siteTarget } from "./pages.ts";

/**
 * Returns the URL of a link's target on the site. `undefined` if the target is not on the site.
 *
 * @param file path of the file with the link
 * @param target as in Markdown, such as `../operate/alerts.md#servicebotdown`
 */
export function siteUrl(file: string, target: string): string | undefined {
  const [, picture] = /^docs\/images\/([\w-]+\.\w+)$/.exec(target) ?? [];
  if (picture !== undefined) return `${homepage}/images/${picture}`;
  const path = siteTarget(file, target);
  if (path === undefined || !path.startsWith("/")) return path;
  return homepage + path.replace(/(\/)index\.md|\.md(?=#|$)/, (_, slash = ".html") => slash);
}

/** A file in the root folder. A packed copy has no neighbours, so its links lead to the site. */
export function withSiteLinks(markdown: string): string {
  return markdown.replaceAll(
    /(!?\[([^\]]*)\])\(([^)\s]+)\)/g,
    (_link, label: string, words: string, target: string) => {
      const url = siteUrl("README.md", target);
      return url === undefined ? words : `${label}(${url})`;
    },
  );
}

/** Replaces each mention of a page by its URL, such as `docs/operate/alerts.md#servicebotdown` in a docstring. */
export function withPageUrls(text: string): string {
  return text.replaceAll(PAGE, (page) => siteUrl("README.md", page) ?? page);
}

const PAGE = /\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g;

/** Returns the files of all pages, by their paths on the site, such as `/operate/alerts.html`. */
export function sitePages(): ReadonlyMap<string, string> {
  return new Map(
    pageFiles().map((file) => [siteUrl("README.md", file)?.slice(homepage.length) ?? "", file]),
  );
}

/** Changes the address in all URLs of pages to {@link homepage}. Leaves the home page, whose path any site has. */
export function withHomepage(text: string): string {
  const paths = [...sitePages().keys()]
    .filter((path) => path !== "/")
    .map((path) => path.replaceAll(".", "\\."));
  const url = new RegExp(`https?://[^\\s"'\`()<>#]+?(?=(?:${paths.join("|")})(?![\\w-]))`, "g");
  return text.replaceAll(url, homepage);
}
