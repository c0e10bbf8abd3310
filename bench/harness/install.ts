import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Installs what the benchmarks depend on, where it is missing or of another version: the peers, which
 * are no dependencies of the project itself. Versions are pinned.
 */
export function installDependencies(folder: URL): void {
  const { dependencies = {} } = manifest(new URL("package.json", folder)) ?? {};
  const missing = Object.entries(dependencies).filter(([name, version]) => {
    const installed = manifest(new URL(`node_modules/${name}/package.json`, folder));
    return installed?.version !== version;
  });
  if (missing.length === 0) return;
  console.log(`installing what the benchmarks need: ${missing.map(([name]) => name).join(", ")}`);
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
}

function manifest(file: URL): Manifest | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}
