import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

const ORIGIN = "http://site.invalid";

/**
 * Lists a built site's links to missing pages, headings, scripts and pictures, and its pages without a heading.
 *
 * @param base path of the site, such as `/service-bot/`
 * @returns `page: target` for each dead link
 */
export function deadLinks(folder: string, base: string): string[] {
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".html"))
    .map((name) => ({ name, html: readFileSync(join(folder, name), "utf8") }));
  const anchors = new Map(
    pages.map(({ name, html }) => [
      name,
      new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id)),
    ]),
  );
  const isDead = (page: string, target: string): boolean => {
    const { origin, pathname, hash } = new URL(target, `${ORIGIN}${posix.join(base, page)}`);
    if (origin !== ORIGIN) return false;
    if (!pathname.startsWith(base)) return true;
    const path = decodeURI(pathname.slice(base.length));
    const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
    if (statSync(join(folder, file), { throwIfNoEntry: false })?.isFile() !== true) return true;
    return hash !== "" && !anchors.get(file)?.has(decodeURIComponent(hash.slice(1)));
  };
  return pages.flatMap(({ name, html }) => {
    // The 404 page is served at any path, so its relative links cannot be checked.
    if (name === "404.html") return [];
    // VitePress does not fail if it cannot render a page.
    if (!html.includes("<h1")) return [`${name}: has no heading`];
    const targets = [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(
      ([, target = ""]) => target,
    );
    return [...new Set(targets)]
      .filter((target) => isDead(name, target.replaceAll("&amp;", "&")))
      .map((target) => `${name}: ${target}`);
  });
}
