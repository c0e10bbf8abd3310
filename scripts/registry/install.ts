import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Installs missing or outdated dependencies of a nested package. The benchmarks, for example, use packages that are not
 * dependencies of the project.
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
