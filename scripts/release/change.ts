/** Headings of a version in CHANGELOG.md, in order. */
export const SECTIONS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"] as const;
/** Parts of a version that a change increments, the largest first. */
const RELEASES = ["major", "minor", "patch"] as const;

export interface Change {
  readonly release: (typeof RELEASES)[number];
  readonly section: (typeof SECTIONS)[number];
  /** List items for CHANGELOG.md. */
  readonly text: string;
}

/** @throws {Error} if the file does not have the form that CONTRIBUTING.md shows */
export function readChange(name: string, content: string): Change {
  const [, releaseName, sectionName, text = ""] =
    /^---\nrelease: (\w+)\nsection: (\w+)\n---\n\n(- [\s\S]*)$/.exec(content) ?? [];
  const release = RELEASES.find((each) => each === releaseName);
  const section = SECTIONS.find((each) => each === sectionName);
  if (release === undefined || section === undefined) {
    throw new Error(
      `${name} needs "release: ${RELEASES.join("|")}", "section: ${SECTIONS.join("|")}", and a list`,
    );
  }
  return { release, section, text: text.trimEnd() };
}

/** Returns the version after these changes. Before 1.0, a major change increments the minor version. */
export function nextVersion(version: string, changes: readonly Change[]): string {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const largest = RELEASES.find((release) => changes.some((change) => change.release === release));
  if (largest === "patch") return `${major}.${minor}.${patch + 1}`;
  if (largest === "minor" || major === 0) return `${major}.${minor + 1}.0`;
  return `${major + 1}.0.0`;
}
