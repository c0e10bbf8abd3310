import { rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isLoopback } from "../core/addresses.ts";
import { makePrivateFolderOf, PRIVATE_FOLDER } from "../core/database-files.ts";
import { printable } from "../core/safe-text.ts";
import { readSmallFile } from "../core/small-file.ts";
import { trimEndOf } from "../core/text.ts";
import { messageOf } from "../errors.ts";
import {
  type ControlRequest,
  type RemoteControl,
  remoteControl,
  targetOf,
} from "../platform/control/client.ts";
import { routes } from "../platform/control/routes.ts";
import type { Platform } from "../platform/index.ts";
import { CommandError, ownCommand } from "./command.ts";
import { CONTROL_TOKEN_VARIABLE, PLATFORM_PORT, variable } from "./environment.ts";
import { printError } from "./output.ts";

const TIMEOUT_MS = 30_000;

export interface ControlClientOptions {
  readonly controlToken?: string | undefined;
  /** Time limit for a response, in addition to any wait that the request asks for, in ms. Default 30,000. */
  readonly timeoutMs?: number;
}

/**
 * Creates a client for the control API (`/control/v1`) of a local platform in another process. Every failure rejects
 * with a `CommandError`.
 *
 * @param platform origin, optionally with the `#token=…` that the platform prints for its portal
 * @param options.controlToken used if the URL has no token
 */
export function controlClient(
  platform: string,
  { controlToken, timeoutMs = TIMEOUT_MS }: ControlClientOptions = {},
): RemoteControl {
  const [given = "", token = controlToken] = platform.split("#token=");
  const origin = trimEndOf(given, "/");
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { "x-control-token": token }),
  };
  return remoteControl((request) => send(origin, headers, request, timeoutMs));
}

/** Does not validate responses, because both processes run the same version. */
async function send(
  origin: string,
  headers: Readonly<Record<string, string>>,
  request: ControlRequest,
  timeoutMs: number,
): Promise<unknown> {
  const { method, json } = request;
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  const limit = timeoutMs + waitOf(request);
  const signal = Number.isFinite(limit) ? { signal: AbortSignal.timeout(limit) } : {};
  let response: Response;
  try {
    response = await fetch(origin + targetOf(request), { method, headers, ...body, ...signal });
  } catch (error) {
    throw unreachable(origin, error);
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer;
  throw refused(answer, origin) ?? noPlatform(origin, `answers ${response.status}`);
}

/** Returns how long the platform may wait before it responds, in ms. */
function waitOf({ method, path, query }: ControlRequest): number {
  // A hundred deliveries may take ten seconds each.
  if (method === "POST" && path === routes.deliver.path) return Number.POSITIVE_INFINITY;
  return Number(query.get("waitMs") ?? 0);
}

function unreachable(platform: string, error: unknown): CommandError {
  if (error instanceof DOMException) return noPlatform(platform, "does not answer");
  const url = new URL(platform);
  const port = Number(url.port) === PLATFORM_PORT ? "" : ` --port ${url.port || "80"}`;
  return new CommandError(
    `No local platform is running at ${platform}.\nRun \`${ownCommand()} platform${port}\` or \`npm run dev\` to start it, or use --platform URL.`,
    { code: "UNREACHABLE" },
  );
}

function noPlatform(platform: string, what: string): CommandError {
  return new CommandError(
    `${platform} ${what}. It is not a local platform of this version.\nUse --platform to name another URL.`,
    { code: "UNREACHABLE" },
  );
}

function refused(answer: unknown, platform: string): CommandError | undefined {
  const { error }: { error?: unknown } = Object(answer);
  const { code, message }: { code?: unknown; message?: unknown } = Object(error);
  if (typeof message !== "string") return undefined;
  if (code === "UNAUTHORIZED") return withoutToken(platform);
  return new CommandError(printable(message), {
    code: typeof code === "string" ? code : undefined,
  });
}

function withoutToken(platform: string): CommandError {
  return new CommandError(
    `The platform at ${platform} refused the request because the control token is missing or wrong.\n` +
      `Run this command in the platform's folder (it has ${controlFileOf(platform)}), ` +
      `set ${CONTROL_TOKEN_VARIABLE}, or use --platform URL#token=TOKEN.`,
    { code: "UNAUTHORIZED" },
  );
}

function controlFileOf(url: string): string {
  return join(PRIVATE_FOLDER, `control-${portOf(new URL(url))}.json`);
}

/**
 * Writes a platform's control token to a file below the current folder, with mode 0600. Returns a function that deletes
 * the file. A file left behind by a crash is harmless, because every platform has a new token.
 */
export function writeControlFile({ url, controlToken }: Platform): () => void {
  const file = resolve(controlFileOf(url));
  try {
    makePrivateFolderOf(file);
    rmSync(file, { force: true });
    writeFileSync(file, `${JSON.stringify({ url, controlToken })}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    printError(
      `Cannot write ${file}: ${messageOf(error)}.\nSet ${CONTROL_TOKEN_VARIABLE} to use \`${ownCommand()} trigger\`.`,
    );
    return () => undefined;
  }
  return () => removeControlFile(file);
}

/**
 * Reads a platform's control token from `SERVICE_CONTROL_TOKEN`, or from a file in this folder or a parent folder that
 * names the same URL.
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
      JSON.parse(readSmallFile(file)),
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
    // The folder also contains the state.
  }
}

/** Treats all loopback names as equal. */
function isSamePlatform(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  if (a === null || b === null || portOf(a) !== portOf(b)) return false;
  return a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname));
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}
