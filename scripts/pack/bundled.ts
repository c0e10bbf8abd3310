import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { lockedPackages } from "../dependencies/lockfile.ts";
import { root } from "../root.ts";
import type { Modules } from "./bundle.ts";
import { type Inlined, inlinedIn } from "./inlined.ts";

/** Licences of packages that are bundled as copied code. The files are named `NAME@VERSION.txt`, with `+` for `/`. */
const storedLicences = fileURLToPath(new URL("licences", import.meta.url));

/** A package whose code is in a published package. */
export interface Bundled {
  readonly name: string;
  /** `undefined` if copied code does not name it. */
  readonly version: string | undefined;
  /** SPDX expression. */
  readonly license: string;
  readonly licenseText: string;
  /** Packages that this one has bundled into its own files. */
  readonly holds: readonly Bundled[];
  /** `undefined` for copied code. */
  readonly installed: Installed | undefined;
}

interface Installed {
  readonly folder: string;
  /** Hash of the package's tarball from package-lock.json, such as `sha512-…`. */
  readonly integrity: string | undefined;
  /** Bytes of its code in the bundle, before whitespace is removed. */
  readonly bytes: number;
}

/**
 * Returns the packages that contain these modules, and those whose code this project has copied.
 *
 * @param modules files outside `node_modules` belong to this project
 * @param licences folder with the licences of copied code
 * @throws {Error} if a package's licence is missing
 */
export async function bundledPackages(
  modules: Modules,
  licences: string = storedLicences,
): Promise<readonly Bundled[]> {
  const byFolder = Map.groupBy(modules, ([file]) => packageFolder(file));
  const folders = [...byFolder.keys()].filter((folder) => folder !== undefined).sort();
  const hashes = new Map(lockedPackages(root).map(({ path, integrity }) => [path, integrity]));
  const installed = folders.map((folder) => {
    const files = new Map(byFolder.get(folder));
    const integrity = hashes.get(relative(root, folder).split(sep).join("/"));
    return installedPackage({ folder, files, integrity }, licences);
  });
  const ownFiles = (byFolder.get(undefined) ?? []).map(([file]) => file);
  const own = ownFiles.filter((file) => !file.startsWith("\0"));
  return [...(await Promise.all(installed)), ...(await copiedPackages(own, "this one", licences))];
}

function packageFolder(file: string): string | undefined {
  const mark = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(mark);
  if (at < 0) return undefined;
  const start = at + mark.length;
  const parts = file.slice(start).split(sep);
  return file.slice(0, start) + parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1).join(sep);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

interface InstalledFiles extends Omit<Installed, "bytes"> {
  /** The bundled ones. */
  readonly files: Modules;
}

async function installedPackage(
  { folder, files, integrity }: InstalledFiles,
  licences: string,
): Promise<Bundled> {
  const text = await readFile(join(folder, "package.json"), "utf8");
  const { name, version, license }: Manifest = JSON.parse(text);
  const licenseText = await licenceIn(folder);
  if (licenseText === undefined) {
    throw new Error(`${name} ${version} has no licence file, so it cannot be bundled.`);
  }
  const holds = await copiedPackages([...files.keys()], name, licences);
  const bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
  const installed = { folder, integrity, bytes };
  return { name, version, license, licenseText, holds, installed };
}

async function copiedPackages(
  files: readonly string[],
  holder: string,
  licences: string,
): Promise<readonly Bundled[]> {
  const inlined = await inlinedIn(files);
  return await Promise.all(inlined.map((each) => copiedPackage(each, holder, licences)));
}

async function copiedPackage(
  { name, version }: Inlined,
  holder: string,
  licences: string,
): Promise<Bundled> {
  const title = version === undefined ? name : `${name} ${version}`;
  const file = join(licences, `${title.replace("/", "+").replace(" ", "@")}.txt`);
  const stored = await readFile(file, "utf8").catch(() => {
    throw new Error(`${holder} bundles ${title}. Add its licence as ${file}.`);
  });
  const [license = "", ...text] = stored.trim().split("\n");
  const licenseText = text.join("\n").trim();
  return { name, version, license, licenseText, holds: [], installed: undefined };
}

async function licenceIn(folder: string): Promise<string | undefined> {
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  return file === undefined ? undefined : (await readFile(join(folder, file), "utf8")).trim();
}
