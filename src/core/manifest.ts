import { readFileSync } from "node:fs";

interface Manifest {
  readonly version: string;
  /** URL of the documentation. */
  readonly homepage: string;
}

function readManifest(): Manifest {
  // The manifest is two folders up, both in the source tree and in the published package.
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
}

export function version(): string {
  return readManifest().version;
}

/**
 * Returns the URL of a documentation page, because packages do not contain the pages.
 *
 * @param page path below docs/ without extension, such as `operate/backup` or `operate/alerts#servicebotdown`
 */
export function pageUrl(page: string): string {
  return `${readManifest().homepage}/${page.replace(/(?=#|$)/, ".html")}`;
}
