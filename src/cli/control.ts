import { rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isLoopback } from "../core/addresses.ts";
import { makePrivateFolderOf, PRIVATE_FOLDER } from "../core/database-files.ts";
import { printable } from "../core/safe-text.ts";
import { readSmallFile } from "../core/small-file.ts";
import { trimEndOf } from "../core/text.ts";
import { messageOf } from "../errors.ts";
import type { ActInput, Platform, TimelineEntry } from "../platform/index.ts";
import type {
  ActResult,
  ControlComment,
  ControlMessage,
  DeliverInput,
  DeliverResult,
  FaultsChange,
  FaultsState,
  PlatformState,
  WebhookChange,
  WebhookView,
} from "../platform/types.ts";
import { CommandError, ownCommand } from "./command.ts";
import { CONTROL_TOKEN_VARIABLE, PLATFORM_PORT, variable } from "./environment.ts";
import { printError } from "./output.ts";

const TIMEOUT_MS = 30_000;

export interface ControlClientOptions {
  readonly controlToken?: string | undefined;
  readonly timeoutMs?: number;
}

/**
 * Client for the control API (`/control/v1`) of a local platform in another process. Every failure rejects with a
 * `CommandError`.
 */
export class ControlClient {
  readonly #platform: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;

  /**
   * @param platform origin, optionally with the `#token=…` that the platform prints for its portal
   * @param options.controlToken used if the URL has no token
   * @param options.timeoutMs time limit for a response, in addition to any wait that the request asks for
   */
  constructor(
    platform: string,
    { controlToken, timeoutMs = TIMEOUT_MS }: ControlClientOptions = {},
  ) {
    const [origin = "", token = controlToken] = platform.split("#token=");
    this.#platform = trimEndOf(origin, "/");
    this.#headers = {
      "content-type": "application/json",
      ...(token === undefined ? {} : { "x-control-token": token }),
    };
    this.#timeoutMs = timeoutMs;
  }

  act(input: ActInput): Promise<ActResult> {
    return this.#request("POST", "/act", { body: input });
  }

  state(): Promise<PlatformState> {
    return this.#request("GET", "/state");
  }

  async messages(conversationId: string): Promise<readonly ControlMessage[]> {
    const path = `/conversations/${encodeURIComponent(conversationId)}/messages`;
    const { items } = await this.#request<{ items: ControlMessage[] }>("GET", path);
    return items;
  }

  async comments(postId: string): Promise<readonly ControlComment[]> {
    const path = `/posts/${encodeURIComponent(postId)}/comments`;
    const { items } = await this.#request<{ items: ControlComment[] }>("GET", path);
    return items;
  }

  saveWebhook(change: WebhookChange): Promise<WebhookView> {
    return this.#request("PUT", "/webhook", { body: change });
  }

  setFaults(change: FaultsChange): Promise<FaultsState> {
    return this.#request("PUT", "/faults", { body: change });
  }

  /** Delivers events now, even if they have been delivered before. */
  async deliver(input: DeliverInput): Promise<readonly DeliverResult[]> {
    type Answer = { readonly deliveries: readonly DeliverResult[] };
    // A hundred deliveries may take ten seconds each.
    const options = { body: input, waitMs: Number.POSITIVE_INFINITY };
    const { deliveries } = await this.#request<Answer>("POST", "/deliveries", options);
    return deliveries;
  }

  /** Returns the timeline's entries after a given one. If there are none, waits up to `waitMs` milliseconds. */
  timeline(after: number, waitMs: number): Promise<TimelinePage> {
    const wait = Math.ceil(waitMs);
    const path = `/timeline?after=${after}&waitMs=${wait}`;
    return this.#request("GET", path, { waitMs: wait });
  }

  /** Does not validate responses, because both processes run the same version. */
  async #request<T>(
    method: string,
    path: string,
    { body, waitMs = 0 }: { readonly body?: object; readonly waitMs?: number } = {},
  ): Promise<T> {
    const url = `${this.#platform}/control/v1${path}`;
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const timeoutMs = this.#timeoutMs + waitMs;
    const signal = Number.isFinite(timeoutMs) ? { signal: AbortSignal.timeout(timeoutMs) } : {};
    let response: Response;
    try {
      response = await fetch(url, { method, headers: this.#headers, ...init, ...signal });
    } catch (error) {
      throw unreachable(this.#platform, error);
    }
    const answer = await response.json().catch(() => undefined);
    if (response.ok && answer !== undefined) return answer as T;
    throw (
      refused(answer, this.#platform) ?? noPlatform(this.#platform, `answers ${response.status}`)
    );
  }
}

/** A page of the timeline. Pass `last` to read the next one. */
export interface TimelinePage {
  readonly entries: readonly TimelineEntry[];
  readonly last: number;
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
