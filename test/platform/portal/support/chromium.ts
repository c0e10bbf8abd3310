import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What Chromium and those made of it are called on a PATH. */
const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

const REMEDY =
  "Install Chromium (apt-get install chromium), or set CHROMIUM to the program of one.";

/**
 * The program of a Chromium: `CHROMIUM`, else one on the PATH, else one that is installed now, where Debian's packages
 * can be.
 *
 * @throws {Error} there is none: tests that want a browser fail rather than being passed over
 */
export function chromium(): string {
  const found = process.env["CHROMIUM"] ?? onPath() ?? (install() ? onPath() : undefined);
  if (found === undefined) throw new Error(`There is no Chromium here. ${REMEDY}`);
  return found;
}

function onPath(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

/** As root, on Debian and what is made of it. */
function install(): boolean {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: readonly string[]) =>
    execFileSync("apt-get", ["-qq", ...args], { env, stdio: "ignore" });
  try {
    apt("update");
    apt("install", "-y", "--no-install-recommends", "chromium");
    return true;
  } catch {
    return false;
  }
}
