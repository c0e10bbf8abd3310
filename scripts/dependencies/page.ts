import { allowedLicences, limits, totalBytes } from "./budget.ts";
import type { Dependency } from "./tree.ts";

export function dependenciesPage(tree: readonly Dependency[]): string {
  const rows = tree.map(
    ({ name, version, license, bytes }) =>
      `| ${name} | ${version} | ${license} | ${kilobytes(bytes)} |`,
  );
  const text = `# Dependencies

\`npm install service-bot\` installs ${tree.length} other packages, which take ${megabytes(totalBytes(tree))} on disk. A test allows at most ${limits.packages} packages,
${megabytes(limits.bytes)}, and no install scripts. It allows only licences that require no more than keeping the licence with the code:
${allowedLicences.join(", ")}.

\`npm run docs -- dependencies\` generates this page from package-lock.json and the installed packages. A new bot installs
newer versions if they exist. \`THIRD-PARTY.md\` in each package contains the licences of bundled code. The optional
packages pg, sharp and pino-pretty are not included.

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
