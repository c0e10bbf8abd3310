import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Installs the dependencies of a package below this one, where they are missing or of another version: such
 * as the peers of the benchmarks, which are no dependencies of the project itself.
 */
export function installDependencies(folder: URL): void {
  const missing = missingDependencies(folder);
  if (missing.length === 0) return;
  console.log(`installing ${missing.join(", ")}`);
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
}

/** The dependencies of a package that are not installed in the version which it names. */
function missingDependencies(folder: URL): string[] {
  const { dependencies = {} } = manifest(new URL("package.json", folder)) ?? {};
  return Object.entries(dependencies)
    .filter(([name, version]) => {
      const installed = manifest(new URL(`node_modules/${name}/package.json`, folder));
      return installed?.version !== version;
    })
    .map(([name, version]) => `${name}@${version}`);
}

function manifest(file: URL): Manifest | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}
