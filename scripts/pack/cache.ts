import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Determine the package's content. */
const SOURCES = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "package.json",
  "package-lock.json",
  // npm's list of the installed packages.
  "node_modules/.package-lock.json",
  "scripts/compile.ts",
  "scripts/dependencies/lockfile.ts",
  "scripts/operations",
  "scripts/pack",
  "scripts/site/homepage.ts",
  "scripts/site/links.ts",
  "scripts/site/pages.ts",
  "src",
  "templates/operations",
  "tsconfig.json",
];

/** Folders that are not packed. Packing builds the page again. */
const APART = [join("src", "create"), join("src", "platform", "portal", "static")];

/** Maximum number of cached tarballs, about one per branch in use. A tarball has about 1 MB. */
const MAX_KEPT = 5;

export interface PackCacheOptions {
  readonly checkout?: string;
  readonly folder?: string;
  readonly pack?: (out: string) => Promise<string>;
}

/**
 * Packs an unchanged checkout only once. Processes can share the folder, because tarballs are named by the hash of
 * their sources.
 */
export class PackCache {
  readonly #checkout: string;
  readonly #folder: string;
  readonly #pack: (out: string) => Promise<string>;

  constructor(options: PackCacheOptions = {}) {
    this.#checkout = options.checkout ?? fileURLToPath(new URL("../../", import.meta.url));
    this.#folder = options.folder ?? join(this.#checkout, "node_modules/.cache/packed");
    this.#pack = options.pack ?? packCheckout;
  }

  async packServiceBot(out: string): Promise<string> {
    const hash = hashOf(this.#checkout);
    const kept = await this.#copyKept(hash, out);
    if (kept !== undefined) return kept;
    const packed = await this.#pack(out);
    // If a source changed during packing, the tarball may contain either version.
    if (hashOf(this.#checkout) === hash) await this.#keep(hash, packed);
    return packed;
  }

  async #copyKept(hash: string, out: string): Promise<string | undefined> {
    await mkdir(this.#folder, { recursive: true });
    const name = (await readdir(this.#folder)).find((each) => each.startsWith(`${hash}-`));
    if (name === undefined) return undefined;
    const kept = join(this.#folder, name);
    const copy = join(out, name.slice(hash.length + 1));
    try {
      await utimes(kept, new Date(), new Date());
      await mkdir(out, { recursive: true });
      await copyFile(kept, copy);
      return copy;
    } catch (error) {
      // Another process has removed the tarball.
      if (!isMissing(kept)) throw error;
      return undefined;
    }
  }

  async #keep(hash: string, packed: string): Promise<void> {
    const incoming = join(this.#folder, `new-${randomUUID()}`);
    await copyFile(packed, incoming);
    await rename(incoming, join(this.#folder, `${hash}-${basename(packed)}`));
    await this.#removeOld();
  }

  async #removeOld(): Promise<void> {
    const paths = (await readdir(this.#folder)).map((name) => join(this.#folder, name));
    const used = await Promise.all(
      paths.map(async (path) => ({ path, at: (await stat(path).catch(() => undefined))?.mtimeMs })),
    );
    const old = used.sort((one, other) => (other.at ?? 0) - (one.at ?? 0)).slice(MAX_KEPT);
    await Promise.all(old.map(({ path }) => rm(path, { force: true })));
  }
}

/** Loads the bundler only if there is no tarball. */
async function packCheckout(out: string): Promise<string> {
  const { packServiceBot } = await import("./packages.ts");
  return (await packServiceBot(out)).path;
}

function hashOf(checkout: string): string {
  const hash = createHash("sha256");
  for (const path of SOURCES.flatMap((source) => filesIn(checkout, source)).sort()) {
    const content = readFileSync(join(checkout, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}

function filesIn(checkout: string, source: string): string[] {
  const path = join(checkout, source);
  if (isMissing(path)) return [];
  if (statSync(path).isFile()) return [source];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(source, join(parentPath, name).slice(path.length + 1)))
    .filter((file) => !APART.some((folder) => file.startsWith(folder + sep)));
}

function isMissing(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) === undefined;
}
