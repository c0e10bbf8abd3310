import { readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isLoopback } from "../../core/loopback.ts";
import { makePrivateFolderOf, PRIVATE_FOLDER } from "../../core/private-file.ts";
import { messageOf } from "../../errors.ts";
import type { Platform } from "../../platform/index.ts";
import { variable } from "../dot-env.ts";
import { printError } from "../output.ts";

/** The variable with a control token: for a platform it is the one to use, for other commands the one to send. */
export const CONTROL_TOKEN_VARIABLE = "SERVICE_CONTROL_TOKEN";

/** The file with the control token of the platform at an address, from the folder in which that was started. */
export function controlFileOf(url: string): string {
  return join(PRIVATE_FOLDER, `control-${portOf(new URL(url))}.json`);
}

/**
 * Writes the control token of a platform to a file of mode 0600 below the current folder. Returns a function that
 * removes it. A file that stays after a crash is harmless, because the next run has another token.
 */
export function writeControlFile({ url, controlToken }: Platform): () => void {
  const file = resolve(controlFileOf(url));
  try {
    makePrivateFolderOf(file);
    rmSync(file, { force: true });
    writeFileSync(file, `${JSON.stringify({ url, controlToken })}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    printError(
      `${file} cannot be written: ${messageOf(error)}. Set ${CONTROL_TOKEN_VARIABLE} for service-bot trigger.`,
    );
    return () => undefined;
  }
  return () => removeControlFile(file);
}

/**
 * Finds the control token of a platform: in `SERVICE_CONTROL_TOKEN`, or in the file of this folder or of one above it.
 * `undefined` if there is none. A file is for its own address alone.
 */
export function findControlToken(url: string): string | undefined {
  const given = variable(CONTROL_TOKEN_VARIABLE);
  if (given !== undefined) return given;
  const name = controlFileOf(url);
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const found = readControlFile(join(folder, name));
    if (found !== undefined && isSamePlatform(found.url, url)) return found.controlToken;
    if (dirname(folder) === folder) return undefined;
  }
}

function readControlFile(
  file: string,
): { readonly url: string; readonly controlToken: string } | undefined {
  try {
    const { url, controlToken }: { url?: unknown; controlToken?: unknown } = Object(
      JSON.parse(readFileSync(file, "utf8")),
    );
    if (typeof url !== "string" || typeof controlToken !== "string") return undefined;
    return { url, controlToken };
  } catch {
    return undefined;
  }
}

function removeControlFile(file: string): void {
  rmSync(file, { force: true });
  try {
    rmdirSync(dirname(file));
  } catch {
    // The state is in there as well.
  }
}

/** `localhost` and `127.0.0.1` are one platform where the port is the same. */
function isSamePlatform(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  if (a === null || b === null || portOf(a) !== portOf(b)) return false;
  return a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname));
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}
