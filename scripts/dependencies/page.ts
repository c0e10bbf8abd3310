import { allowedLicences, limits, totalBytes } from "./budget.ts";
import type { BundledGroup } from "./bundled.ts";
import type { Dependency } from "./tree.ts";

/** Returns docs/internals/dependencies.md. */
export function dependenciesPage(
  tree: readonly Dependency[],
  bundled: readonly BundledGroup[],
): string {
  return `${installedSection(tree)}
## Bundled packages

Code that runs in a bot's process in production is installed, even where bundling would take less space. Updates and
\`npm audit\` then reach it: ${sizesOf(tree, ["prom-client", "tdigest", "bintrees", "@opentelemetry/api"])}, and
${sizesOf(tree, ["zod"])}, which a bot loads only if its own code imports it. \`service-bot\` contains the code of the
other packages:

| | packages | kB bundled | kB if installed | reason |
|---|---|---:|---:|---|
${bundled.map(groupRow).join("\n")}

kB bundled is the size before whitespace is removed. \`sbom.cdx.json\` in each package lists all bundled packages in
CycloneDX format, with their versions, licences, package URLs, and the packages that they contain themselves. To scan
them for known vulnerabilities, use for example:

\`\`\`sh
trivy sbom node_modules/service-bot/sbom.cdx.json
grype sbom:node_modules/service-bot/sbom.cdx.json
\`\`\`

Syft includes the file in the list of a whole image with \`--select-catalogers +sbom-cataloger\`. An update of a bundled
package needs a new version of service-bot. \`THIRD-PARTY.md\` in each package contains the licences. The scaffolder,
\`create-service-bot\`, bundles everything, because npm downloads it again for each bot.
`;
}

/** Returns the beginning of the page, which depends only on the installed packages. */
export function installedSection(tree: readonly Dependency[]): string {
  return `# Dependencies

\`npm install service-bot\` installs ${tree.length} other packages, which take ${megabytes(totalBytes(tree))} on disk. A test allows at most ${limits.packages} packages,
${megabytes(limits.bytes)}, and no install scripts. It allows only licences that require no more than keeping the licence with the code:
${allowedLicences.join(", ")}.

\`npm run docs -- dependencies\` generates this page from package-lock.json and the installed packages. A new bot installs
newer versions if they exist. The optional packages pg, sharp and pino-pretty are not included.
`;
}

function groupRow({ title, packages, reason, ...sizes }: BundledGroup): string {
  const { bundledBytes, installedBytes } = sizes;
  return `| ${title} | ${packages.join(", ")} | ${kilobytes(bundledBytes)} | ${kilobytes(installedBytes)} | ${reason} |`;
}

/** Returns the first package with the size of all. */
function sizesOf(tree: readonly Dependency[], names: readonly string[]): string {
  const [first, ...others] = names;
  const bytes = totalBytes(tree.filter(({ name }) => names.includes(name)));
  const more = others.length === 0 ? "" : ` with ${others.length} more packages`;
  return `${first}${more} (${kilobytes(bytes)} kB)`;
}

function kilobytes(bytes: number): string {
  return String(Math.ceil(bytes / 1000));
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}
