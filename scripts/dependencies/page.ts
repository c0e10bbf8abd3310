import { allowedLicences, limits, totalBytes } from "./budget.ts";
import type { Dependency } from "./tree.ts";

export function dependenciesPage(tree: readonly Dependency[]): string {
  const rows = tree.map(
    ({ name, version, license, bytes }) =>
      `| ${name} | ${version} | ${license} | ${kilobytes(bytes)} |`,
  );
  const text = `# Dependencies

\`npm install service-bot\` installs ${tree.length} packages besides itself, ${megabytes(totalBytes(tree))} on disk. A test permits at most
${limits.packages} packages and ${megabytes(limits.bytes)}, and no install scripts. It permits these licences, which only require that the licence is kept
with the code: ${allowedLicences.join(", ")}.

\`npm run docs -- dependencies\` writes this page from package-lock.json and the installed packages. A new bot installs
newer versions if there are any. The licences of bundled code are in each package's \`THIRD-PARTY.md\`. The optional
packages pg, sharp and pino-pretty are not counted.

| package | version | licence | kB |
|---|---|---|---:|
${rows.join("\n")}
`;
  return text;
}

function kilobytes(bytes: number): string {
  return String(Math.ceil(bytes / 1000));
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}
