import type { Bundled } from "./bundled.ts";

/** Returns the licences of bundled packages, as Markdown. */
export function thirdPartyNotices(bundled: readonly Bundled[]): string {
  const words =
    bundled.length === 0
      ? "This package bundles no third-party code."
      : "This package bundles these third-party packages.";
  const sections = bundled.flatMap((each) => [
    notice(`## ${titleOf(each)}`, each),
    ...each.holds.map((held) => notice(`### ${titleOf(held)}, in ${each.name}`, held)),
  ]);
  return `# Third-party code\n\n${[words, ...sections].join("\n\n")}\n`;
}

function titleOf({ name, version, license }: Bundled): string {
  return `${version === undefined ? name : `${name} ${version}`} (${license})`;
}

function notice(title: string, { licenseText }: Bundled): string {
  return `${title}\n\n${licenseText.replace(/^/gm, "    ")}`;
}
