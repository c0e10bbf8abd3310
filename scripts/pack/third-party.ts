import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";

/**
 * The licences of the packages that these modules belong to, with their texts, as Markdown.
 *
 * @param modules paths of files; those outside of `node_modules` are our own
 * @throws {Error} a package has no file with its licence
 */
export async function thirdPartyNotices(modules: readonly string[]): Promise<string> {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined));
  const sections = await Promise.all([...folders].sort().map(notice));
  const words =
    sections.length === 0
      ? "Nothing of others is bundled with this package."
      : "These packages are bundled with this one.";
  return `# Third-party code\n\n${[words, ...sections].join("\n\n")}\n`;
}

/** The folder of the package that a file belongs to, be it deep in the dependencies of another. */
function packageFolder(file: string): string | undefined {
  const mark = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(mark);
  if (at < 0) return undefined;
  const start = at + mark.length;
  const parts = file.slice(start).split(sep);
  return file.slice(0, start) + parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1).join(sep);
}

async function notice(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const { name, version, license } = manifest;
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  if (file === undefined) {
    throw new Error(`${name} ${version} comes without its licence, so it cannot be bundled.`);
  }
  const text = (await readFile(join(folder, file), "utf8")).trim().replace(/^/gm, "    ");
  return `## ${name} ${version} (${license})\n\n${text}`;
}
