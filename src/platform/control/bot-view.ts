import { isLoopback } from "../../core/addresses.ts";
import { messageOf } from "../../errors.ts";
import { whyNoAnswer } from "../webhooks/no-answer.ts";

/** In ms. A bot that works answers within a fraction of it. */
export const ANSWER_TIMEOUT_MS: number = 2_000;

/** Longest answer that is read, in bytes: 50 states. */
const MAX_BYTES = 1024 * 1024;

/** Status that a bot reports. */
export interface BotView {
  /** Address of its local channel; null if it has neither reported an address nor a webhook. */
  readonly url: string | null;
  /** Answer to `GET /readyz?verbose` (docs/operate/overview.md). Null without one. */
  readonly status: Readonly<Record<string, unknown>> | null;
  /** Why `status` is null, and what to do about it. */
  readonly error?: string;
}

/** The tokens of an app that are tried at most. An app has one or two. */
export const MAX_TOKENS: number = 5;

export interface BotQuestion {
  /** The address that the bot has reported, or that of its webhook. */
  readonly address: string | null;
  /** The tokens of the bot's app. They are sent to this machine alone. */
  readonly apiKeys: readonly string[];
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Default: the network. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Time for all tries together, in ms. Default 2,000. */
  readonly timeoutMs?: number;
}

/** Asks a bot how it is. Never rejects. */
export async function askBot({
  address,
  apiKeys,
  signal,
  fetch: send = fetch,
  timeoutMs = ANSWER_TIMEOUT_MS,
}: BotQuestion): Promise<BotView> {
  if (address === null) {
    const error =
      "It is not known where the bot is: it has not reported an address. Start it, or save its webhook (PUT /control/v1/webhook).";
    return { url: null, status: null, error };
  }
  const target = new URL("/readyz?verbose", address);
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
export function why(error: unknown, target: URL): string {
  const { cause }: { cause?: unknown } = Object(error);
  return cause === undefined ? messageOf(error) : whyNoAnswer(cause, target);
}

export async function textOf({ body }: Response): Promise<string> {
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
export function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
