import { allowedLicences, limits, totalBytes } from "./budget.ts";
import type { Dependency } from "./tree.ts";

/** docs/internals/dependencies.md: what is installed with a bot, by name, and under which licences. */
export function dependenciesPage(tree: readonly Dependency[]): string {
  const rows = tree.map(
    ({ name, version, license, bytes }) =>
      `| ${name} | ${version} | ${license} | ${kilobytes(bytes)} |`,
  );
  const text = `# Dependencies

\`npm install service-bot\` brings ${tree.length} packages besides itself, ${megabytes(totalBytes(tree))} on the disk. No more than
${limits.packages} and ${megabytes(limits.bytes)} are permitted, none of them may run a script when it is installed, and each has one of these licences,
which ask for nothing but that they are kept with the code: ${allowedLicences.join(", ")}.

\`npm run docs -- dependencies\` writes this page from package-lock.json and the installed packages. A bot gets newer
versions if there are any. Code that is bundled into the two packages has its licences in their \`THIRD-PARTY.md\`. pg,
sharp and pino-pretty come with a bot that asks for them, and are not counted.

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
