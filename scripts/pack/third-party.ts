import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type Inlined, inlinedIn } from "./inlined.ts";

/** Licences of packages that other packages have bundled. The files are named `NAME@VERSION.txt`, with `+` for `/`. */
const heldLicences = fileURLToPath(new URL("licences", import.meta.url));

/**
 * Returns the licences of the packages that contain these modules, as Markdown. Each package is followed by the
 * licences of the packages it has bundled, which are read from `licences`.
 *
 * @param modules paths of files. Files outside `node_modules` belong to this project
 * @throws {Error} if a package's licence is missing
 */
export async function thirdPartyNotices(
  modules: readonly string[],
  licences: string = heldLicences,
): Promise<string> {
  const byFolder = Map.groupBy(modules, packageFolder);
  const folders = [...byFolder.keys()].filter((folder) => folder !== undefined);
  const sections = await Promise.all(
    folders.sort().map((folder) => notice(folder, byFolder.get(folder) ?? [], licences)),
  );
  const ownFiles = (byFolder.get(undefined) ?? []).filter((file) => !file.startsWith("\0"));
  const own = await inlinedIn(ownFiles);
  sections.push(...(await Promise.all(own.map((each) => heldNotice(each, "this one", licences)))));
  const words =
    sections.length === 0
      ? "This package bundles no third-party code."
      : "This package bundles these third-party packages.";
  return `# Third-party code\n\n${[words, ...sections].join("\n\n")}\n`;
}

function packageFolder(file: string): string | undefined {
  const mark = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(mark);
  if (at < 0) return undefined;
  const start = at + mark.length;
  const parts = file.slice(start).split(sep);
  return file.slice(0, start) + parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1).join(sep);
}

async function notice(folder: string, files: readonly string[], licences: string): Promise<string> {
  const { name, version, license } = await manifestIn(folder);
  const text = await licenceIn(folder);
  if (text === undefined) {
    throw new Error(`${name} ${version} has no licence file, so it cannot be bundled.`);
  }
  const inlined = await inlinedIn(files);
  const held = await Promise.all(inlined.map((each) => heldNotice(each, name, licences)));
  return [`## ${name} ${version} (${license})\n\n${text}`, ...held].join("\n\n");
}

async function heldNotice(
  { name, version }: Inlined,
  holder: string,
  licences: string,
): Promise<string> {
  const title = version === undefined ? name : `${name} ${version}`;
  const file = join(licences, `${title.replace("/", "+").replace(" ", "@")}.txt`);
  const stored = await readFile(file, "utf8").catch(() => {
    throw new Error(`${holder} bundles ${title}. Add its licence as ${file}.`);
  });
  const [license, ...text] = stored.trim().split("\n");
  return `### ${title} (${license}), in ${holder}\n\n${indented(text.join("\n"))}`;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

async function licenceIn(folder: string): Promise<string | undefined> {
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  if (file === undefined) return undefined;
  return indented(await readFile(join(folder, file), "utf8"));
}

function indented(text: string): string {
  return text.trim().replace(/^/gm, "    ");
}
