import { isLoopback } from "../../core/addresses.ts";
import { messageOf } from "../../errors.ts";
import { notFound, PlatformError } from "../error.ts";
import { whyNoAnswer } from "../webhooks/no-answer.ts";

/** In ms. A bot that works answers within a fraction of it. */
const ANSWER_TIMEOUT_MS = 2_000;

/** The longest status that is read, in bytes. */
const MAX_BYTES = 256 * 1024;

/** Status that a bot reports. */
export interface BotView {
  /** The origin of its webhook; null while none is saved. */
  readonly url: string | null;
  /** Answer to `GET /readyz?verbose` (docs/operating.md). Null without one. */
  readonly status: Readonly<Record<string, unknown>> | null;
  /** Why `status` is null, and what to do about it. */
  readonly error?: string;
}

/** The tokens of an app that are tried at most. An app has one or two. */
const MAX_TOKENS = 5;

export interface BotQuestion {
  /** The address of the bot's webhook. */
  readonly webhook: string | null;
  /** The tokens of the bot's app. They are sent to this machine alone. */
  readonly apiKeys: readonly string[];
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Default: the network. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Time for all tries together, in ms. Default 2,000. */
  readonly timeoutMs?: number;
}

/** An event as the bot's inbox has it, with the steps of its handler. */
export interface InboxView {
  readonly id: string;
  readonly state: "pending" | "done" | "dead" | "discarded";
  /** Runs that count towards the limit. */
  readonly attempts: number;
  readonly steps: readonly {
    readonly name: string;
    readonly state: "open" | "done";
    readonly request: string;
  }[];
}

/** The states and timers of a bot's inbox, the first 50 of each. Times are ISO 8601, UTC. */
export interface KeptView {
  readonly states: readonly {
    readonly key: string;
    /** JSON. */
    readonly value: string;
    readonly updatedAt: string;
  }[];
  readonly timers: readonly {
    /** Where it was set: `dm:<conversation>`, `post:<post>`. */
    readonly lane: string;
    readonly name: string;
    readonly key: string;
    readonly dueAt: string;
  }[];
}

/** A decision about an event of a bot's inbox. */
export type InboxDecision = "retry" | "discard";

/**
 * Reads an event of a bot's inbox, or its states and timers without an id, or carries out a decision. The bot serves its inbox to a platform on its own
 * machine, and to its token alone.
 *
 * @throws {PlatformError} 404 NOT_FOUND; 409 BOT_UNREACHABLE, BOT_REFUSED
 */
export async function askInbox<T = InboxView>(
  { webhook, apiKeys, signal, fetch: send = fetch, timeoutMs = ANSWER_TIMEOUT_MS }: BotQuestion,
  { id, decision }: { readonly id?: string; readonly decision?: InboxDecision },
): Promise<T> {
  const target = new URL("/local/v1/inbox", webhook ?? "http://0.0.0.0");
  if (id !== undefined) target.pathname += `/${encodeURIComponent(id)}`;
  if (webhook === null || !isLoopback(target.hostname)) throw unreachable(UNKNOWN_PLACE);
  if (decision !== undefined) target.pathname += `/${decision}`;
  const init = {
    method: decision === undefined ? "GET" : "POST",
    redirect: "manual",
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]),
  } as const;
  for (const token of apiKeys.slice(0, MAX_TOKENS)) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await send(new Request(target, { ...init, headers })).catch((error: unknown) => {
      throw unreachable(why(error, target));
    });
    const body = parse(await textOf(answer));
    if (answer.ok) return body as T;
    const { code, message }: { code?: unknown; message?: unknown } = Object(body["error"]);
    if (code === "EVENT_NOT_FOUND") throw notFound(`event in the inbox of the bot: ${id}`);
    if (code !== "NOT_FOUND") throw new PlatformError(409, "BOT_REFUSED", String(message));
  }
  throw unreachable(NO_INBOX);
}

const UNKNOWN_PLACE =
  "The bot's inbox is reached at the address of its webhook, on this machine alone. Use service-bot inbox in the bot's folder.";

const NO_INBOX =
  "The bot does not serve its inbox at the address of its webhook. Use service-bot inbox in the bot's folder.";

function unreachable(message: string): PlatformError {
  return new PlatformError(409, "BOT_UNREACHABLE", message);
}

/** Asks a bot how it is. Never rejects. */
export async function askBot({
  webhook,
  apiKeys,
  signal,
  fetch: send = fetch,
  timeoutMs = ANSWER_TIMEOUT_MS,
}: BotQuestion): Promise<BotView> {
  if (webhook === null) {
    const error =
      "It is not known where the bot is: save its webhook (PUT /control/v1/webhook). One that only polls tells nothing here.";
    return { url: null, status: null, error };
  }
  const target = new URL("/readyz?verbose", webhook);
  const url = target.origin;
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const ended = AbortSignal.any([limit, signal]);
    const tokens = isLoopback(target.hostname) ? apiKeys.slice(0, MAX_TOKENS) : [];
    const ask = (token?: string) => askOnce(send, target, token, ended);
    let answer = await ask(tokens[0]);
    for (const token of tokens.slice(1)) {
      if (!answer.asksForToken) break;
      answer = await ask(token);
    }
    if (answer.status !== undefined) return { url, status: answer.status };
    return { url, status: null, error: whyNoStatus(answer, target) };
  } catch (error) {
    return {
      url,
      status: null,
      error: limit.aborted ? tooSlow(target, timeoutMs) : why(error, target),
    };
  }
}

interface BotAnswer {
  readonly code: number;
  /** Undefined where the answer is no status. */
  readonly status: Readonly<Record<string, unknown>> | undefined;
  /** True for a bot that keeps its status to those who have its token. */
  readonly asksForToken: boolean;
}

async function askOnce(
  send: (request: Request) => Promise<Response>,
  target: URL,
  token: string | undefined,
  signal: AbortSignal,
): Promise<BotAnswer> {
  const headers = {
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const response = await send(new Request(target, { redirect: "manual", signal, headers }));
  const value = parse(await textOf(response));
  // A bot that is not ready answers 503, with its status as well.
  const isAnswer = response.ok || response.status === 503;
  const isStatus = isAnswer && typeof value.ready === "boolean";
  return {
    code: response.status,
    status: isStatus ? value : undefined,
    asksForToken: isAnswer && typeof value.verbose === "string",
  };
}

function whyNoStatus({ code, asksForToken }: BotAnswer, target: URL): string {
  if (!asksForToken) {
    return `GET ${target.href} is answered with ${code}, and not with the status of a bot: is another program there, or does the bot's app mount the webhook alone?`;
  }
  return isLoopback(target.hostname)
    ? "The bot takes no token of this app: does it run with another SERVICE_API_KEY?"
    : "The bot gives its status to those who have its token, and the platform sends that to 127.0.0.1 and localhost alone.";
}

function tooSlow({ host }: URL, timeoutMs: number): string {
  return `${host} does not answer within ${timeoutMs} ms; is the bot busy, or stopped in a debugger?`;
}

/** Returns the reason, which is the cause of the error that `fetch` throws. */
function why(error: unknown, target: URL): string {
  const { cause }: { cause?: unknown } = Object(error);
  return cause === undefined ? messageOf(error) : whyNoAnswer(cause, target);
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_BYTES) return "";
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Parses an object. Returns an empty one for anything else. */
function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
