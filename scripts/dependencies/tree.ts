import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { isProduction, lockedPackages } from "./lockfile.ts";

export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** SPDX expression from package.json. */
  readonly license: string;
  /** In bytes, without nested packages. */
  readonly bytes: number;
  /** True if npm runs a script when it installs the package. */
  readonly hasInstallScript: boolean;
}

/**
 * Returns the packages that a bot installs, sorted by name. Reads the installation in `root`.
 *
 * @throws {Error} if an installed version differs from package-lock.json
 */
export function productionTree(root: string): readonly Dependency[] {
  return lockedPackages(root)
    .filter(isProduction)
    .map(({ path, version }) => {
      const folder = join(root, path);
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (manifest.version !== version) {
        throw new Error(
          `${path} has version ${manifest.version} instead of ${version}. Run npm ci.`,
        );
      }
      return {
        name: manifest.name,
        version: manifest.version,
        license: manifest.license ?? "none",
        bytes: installedBytes(folder),
        hasInstallScript: installScripts(manifest, readdirSync(folder)),
      };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the size of a package's files, without nested packages. */
export function installedBytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(folder, file).split(sep).includes("node_modules"));
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly gypfile?: boolean;
}

/** If there is a binding.gyp, npm also runs node-gyp, unless the package sets `gypfile` to false. */
function installScripts({ scripts = {}, gypfile }: Manifest, files: readonly string[]): boolean {
  const named = ["preinstall", "install", "postinstall"].some((name) => name in scripts);
  return named || (files.includes("binding.gyp") && gypfile !== false);
}
