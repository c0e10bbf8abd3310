import { type Change, nextVersion, SECTIONS } from "./change.ts";

/**
 * Returns the changelog with the changes under a heading for their version. The first version also takes the entries of
 * *Unreleased*.
 *
 * @param current the version in package.json
 * @param day as in `2026-11-28`
 */
export function withRelease(
  changelog: string,
  changes: readonly Change[],
  { current, day }: { readonly current: string; readonly day: string },
): { readonly changelog: string; readonly version: string } {
  const isFirst = !changelog.includes(`\n## ${current} `);
  const version = isFirst ? current : nextVersion(current, changes);
  const heading = `## ${version} - ${day}`;
  if (isFirst) {
    const [before = "", entries = ""] = changelog.split("## Unreleased");
    return { version, changelog: `${before}${heading}${withChanges(entries, changes)}` };
  }
  const start = changelog.indexOf("\n## ") + 1;
  const [before, after] = [changelog.slice(0, start), changelog.slice(start)];
  return { version, changelog: `${before}${heading}${withChanges("", changes)}\n${after}` };
}

/** Adds the changes at the beginning of their sections, and sections that are missing at the end. */
function withChanges(entries: string, changes: readonly Change[]): string {
  return SECTIONS.reduce((text, section) => {
    const items = changes.filter((change) => change.section === section).map(({ text }) => text);
    if (items.length === 0) return text;
    const list = `${items.join("\n")}\n`;
    const heading = `### ${section}\n\n`;
    const [above = "", below] = text.split(heading);
    if (below === undefined) return `${text.trimEnd()}\n\n${heading}${list}`;
    return `${above}${heading}${list}${below.startsWith("- ") ? "" : "\n"}${below}`;
  }, entries);
}
