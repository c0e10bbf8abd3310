import { isLoopback } from "../../core/addresses.ts";
import { readTextUpTo } from "../../core/bounded-read.ts";
import { messageOf } from "../../errors.ts";
import { whyNoAnswer } from "../webhooks/no-answer.ts";

/** A healthy bot responds within a fraction of this time. */
export const ANSWER_TIMEOUT_MS: number = 2_000;

/** Longest response. A page of 50 states fits. */
const MAX_BYTES = 1024 * 1024;

/** A bot's reported status. */
export interface BotView {
  /** URL of the bot's local channel. `null` if the bot has reported no URL and has no webhook. */
  readonly url: string | null;
  /** Response to `GET /readyz?verbose` (docs/operate/overview.md). `null` if the bot does not respond. */
  readonly status: Readonly<Record<string, unknown>> | null;
  /** Reason why `status` is `null`, and a remedy. */
  readonly error?: string;
}

/** Maximum number of tokens to try. An app usually has one or two. */
export const MAX_TOKENS: number = 5;

export interface BotQuestion {
  readonly address: string | null;
  /** Tokens of the bot's app. They are sent only to bots on this machine. */
  readonly apiKeys: readonly string[];
  readonly signal: AbortSignal;
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Timeout for all attempts together, in ms. Default 2,000. */
  readonly timeoutMs?: number;
}

/** Never rejects. */
export async function askBot({
  address,
  apiKeys,
  signal,
  fetch: send = fetch,
  timeoutMs = ANSWER_TIMEOUT_MS,
}: BotQuestion): Promise<BotView> {
  if (address === null) {
    const error = "The platform does not know the bot's URL. Start the bot, or save its webhook.";
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
      // An application that embeds the bot returns 404 for another token.
      if (!answer.asksForToken && answer.code !== 404) break;
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
  readonly status: Readonly<Record<string, unknown>> | undefined;
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
  // A bot that is not ready returns its status with a 503.
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
    return `GET ${target.href} returned ${code} instead of a bot's status. Is another program listening there? In an Express app, mount bot.middleware() at the root. Another app must pass /readyz on to bot.handle().`;
  }
  return isLoopback(target.hostname)
    ? "The bot rejects this app's tokens. Does it use a different SERVICE_API_KEY?"
    : "Reading the bot's status requires its token, which the platform sends only to 127.0.0.1 and localhost.";
}

function tooSlow({ host }: URL, timeoutMs: number): string {
  return `${host} did not respond within ${timeoutMs} ms. Is the bot busy, or stopped in a debugger?`;
}

/** Returns the cause of a failed `fetch`, because the error's own message does not contain it. */
export function why(error: unknown, target: URL): string {
  const { cause }: { cause?: unknown } = Object(error);
  return cause === undefined ? messageOf(error) : whyNoAnswer(cause, target);
}

export function textOf({ body }: Response): Promise<string> {
  return readTextUpTo(body, MAX_BYTES);
}

export function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
