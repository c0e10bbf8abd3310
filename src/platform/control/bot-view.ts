import { messageOf } from "../../errors.ts";
import { whyNoAnswer } from "../webhooks/no-answer.ts";

/** How long a bot has to tell how it is, in milliseconds. */
const TIMEOUT_MS = 2_000;

/** The longest status that is read, in bytes. */
const MAX_BYTES = 256 * 1024;

/** What a bot says of itself. */
export interface BotView {
  /** The origin of its webhook; null while none is saved. */
  readonly url: string | null;
  /** What `GET /readyz?verbose` answers there, the status of the bot (docs/operating.md); null where it says nothing. */
  readonly status: Readonly<Record<string, unknown>> | null;
  /** Why `status` is null, and what to do about it. */
  readonly error?: string;
}

/**
 * Asks a bot how it is. Never rejects.
 *
 * @param webhook the address of its webhook
 * @param signal ends the wait
 */
export async function askBot(webhook: string | null, signal: AbortSignal): Promise<BotView> {
  if (webhook === null) {
    const error =
      "It is not known where the bot is: save its webhook (PUT /control/v1/webhook). One that only polls tells nothing here.";
    return { url: null, status: null, error };
  }
  const target = new URL("/readyz?verbose", webhook);
  const url = target.origin;
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const options = { redirect: "manual", signal: AbortSignal.any([limit, signal]) } as const;
    const response = await fetch(target, { ...options, headers: { accept: "application/json" } });
    const status = statusIn(await textOf(response));
    // A bot that is not ready says so with 503, and tells the rest, too.
    if (status !== undefined && (response.ok || response.status === 503)) return { url, status };
    const error = `GET ${target.href} is answered with ${response.status}, and not with the status of a bot: is another program there, or does the bot's app mount the webhook alone?`;
    return { url, status: null, error };
  } catch (error) {
    return { url, status: null, error: limit.aborted ? tooSlow(target) : why(error, target) };
  }
}

function tooSlow({ host }: URL): string {
  return `${host} does not answer within ${TIMEOUT_MS} ms; is the bot busy, or stopped in a debugger?`;
}

/** What went wrong is the cause of what fetch throws. */
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

/** Every status of a bot says whether it is ready. */
function statusIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { ready }: { ready?: unknown } = Object(value);
    return typeof ready === "boolean" ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
