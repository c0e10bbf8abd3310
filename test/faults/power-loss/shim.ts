import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("./journal.c", import.meta.url));

export function whyNoShim(): string | undefined {
  if (process.platform !== "linux")
    return "the power-loss tests are skipped: LD_PRELOAD needs Linux";
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "the power-loss tests are skipped: there is no C compiler (cc)";
  }
}

/** Returns the library's path, for LD_PRELOAD. */
export function compileShim(folder: string): string {
  const library = join(folder, "journal.so");
  const args = ["-Wall", "-Wextra", "-O1", "-shared", "-fPIC", "-o", library, SOURCE];
  execFileSync("cc", args, { stdio: ["ignore", "ignore", "inherit"] });
  return library;
}
