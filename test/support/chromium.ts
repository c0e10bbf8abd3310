import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

const REMEDY = "Install Chromium (apt-get install chromium), or set CHROMIUM to its path.";

/**
 * Returns Chromium's path: the `CHROMIUM` variable, a program on the PATH, or a new installation on Debian.
 *
 * @throws {Error} if Chromium is not available. Browser tests then fail instead of being skipped.
 */
export function chromium(): string {
  const found = process.env["CHROMIUM"] ?? onPath() ?? (install() ? onPath() : undefined);
  if (found === undefined) throw new Error(`Chromium is not installed. ${REMEDY}`);
  return found;
}

function onPath(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

/** Requires root, and Debian or one of its derivatives. */
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
