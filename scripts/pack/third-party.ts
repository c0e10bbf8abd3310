import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join, sep } from "node:path";
import { type Inlined, inlinedIn } from "./inlined.ts";

/**
 * The licences of the packages that these modules belong to, with their texts, as Markdown. Below each stand the
 * packages that it holds in turn; the text of those is there where they are installed, too.
 *
 * @param modules paths of files; those outside of `node_modules` are our own
 * @throws {Error} a package has no file with its licence
 */
export async function thirdPartyNotices(modules: readonly string[]): Promise<string> {
  const byFolder = Map.groupBy(modules, packageFolder);
  const folders = [...byFolder.keys()].filter((folder) => folder !== undefined);
  const sections = await Promise.all(
    folders.sort().map((folder) => notice(folder, byFolder.get(folder) ?? [])),
  );
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

async function notice(folder: string, files: readonly string[]): Promise<string> {
  const { name, version, license } = await manifestIn(folder);
  const text = await licenceIn(folder);
  if (text === undefined) {
    throw new Error(`${name} ${version} comes without its licence, so it cannot be bundled.`);
  }
  const inlined = await inlinedIn(files);
  const held = await Promise.all(inlined.map((each) => heldNotice(each, name, folder)));
  return [`## ${name} ${version} (${license})\n\n${text}`, ...held].join("\n\n");
}

/** Of a package that the one in `folder` holds. */
async function heldNotice(
  { name, version }: Inlined,
  holder: string,
  folder: string,
): Promise<string> {
  const title = version === undefined ? name : `${name} ${version}`;
  const installed = await installedFrom(folder, name);
  if (installed === undefined) return `### ${title}, in ${holder}`;
  const { manifest, text } = installed;
  // Versions of one package can differ in their licence: it is told whose text this is.
  const whose = manifest.version === version ? "" : `As of ${name} ${manifest.version}:\n\n`;
  return `### ${title} (${manifest.license}), in ${holder}\n\n${whose}${text}`;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** The package that an import of this name in `folder` finds, if it comes with its licence. */
async function installedFrom(
  folder: string,
  name: string,
): Promise<{ manifest: Manifest; text: string } | undefined> {
  const places = createRequire(join(folder, "package.json")).resolve.paths(name) ?? [];
  // Not the folders in which Node looks last, and which belong to the machine.
  for (const place of places.filter((each) => basename(each) === "node_modules")) {
    const manifest = await manifestIn(join(place, name)).catch(() => undefined);
    if (manifest === undefined) continue;
    const text = await licenceIn(join(place, name));
    return text === undefined ? undefined : { manifest, text };
  }
  return undefined;
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

/** The text of the licence, indented; undefined where there is no such file. */
async function licenceIn(folder: string): Promise<string | undefined> {
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  if (file === undefined) return undefined;
  return (await readFile(join(folder, file), "utf8")).trim().replace(/^/gm, "    ");
}
