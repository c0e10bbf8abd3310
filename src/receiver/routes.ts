import type { BodyBudget } from "../core/body/budget.ts";
import type { BodyBounds } from "../core/body/read.ts";
import { type Answer, failure, json } from "./answer.ts";
import type { BodyResult } from "./read-body.ts";
import type { Receiver } from "./receiver.ts";

/** A request, whichever server it came through. */
export interface Incoming {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The path below the one under which Express has mounted the middleware; absent or equal to `path` elsewhere. */
  readonly mountedPath?: string;
  /** What follows the question mark; empty when there is none. */
  readonly query: string;
  /** The value of `X-Service-Signature`. */
  readonly signature: string | readonly string[] | undefined;
  /** The value of `X-Service-Event-Count`. */
  readonly eventCount: string | readonly string[] | undefined;
  /** The value of `Authorization`. */
  readonly authorization: string | undefined;
  /** The value of `traceparent`. */
  readonly traceparent: string | readonly string[] | undefined;
  /** Reads the raw body within bounds. Begins before it returns. */
  read(bounds: BodyBounds): Promise<BodyResult>;
  /** Gives up the body without reading it. */
  drop(): void;
}

export interface WebhookOptions {
  /** Undefined when there is no webhook (DELIVERY=polling); `starting` until it can take deliveries. */
  readonly receiver: Receiver | "starting" | undefined;
  /** The path of the webhook, such as `/webhook`. */
  readonly path: string;
  /** The largest body, in bytes. */
  readonly maxBodyBytes: number;
  /** Bytes of all bodies under way. */
  readonly bodies: BodyBudget;
  /** From the head of a delivery to the last byte of its body, in ms. Default 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

export interface RouteOptions extends WebhookOptions {
  /** True when the store answers and the bot is not draining. */
  readonly isReady: () => Promise<boolean>;
  /** Whether an `Authorization` header may see the report. */
  readonly maySeeReport: (authorization: string | undefined) => boolean;
  /** The content of `/readyz?verbose`; `ready` is what `isReady` says. */
  readonly report: () => Promise<{ readonly ready: boolean }>;
}

/** Answers what is meant for the webhook; undefined for anything else. */
export async function answerWebhook(
  incoming: Incoming,
  options: WebhookOptions,
): Promise<Answer | undefined> {
  const { receiver } = options;
  if (receiver === undefined || !isAt(options.path, incoming)) return undefined;
  if (incoming.method !== "POST") {
    incoming.drop();
    return methodNotAllowed("POST");
  }
  if (receiver === "starting") {
    incoming.drop();
    return notReady;
  }
  const { signature, eventCount, traceparent } = incoming;
  const refusing = receiver.refuseUnread(signature);
  if (refusing !== undefined) {
    incoming.drop();
    return await refusing;
  }
  const { maxBodyBytes: limit, bodies: budget, bodyTimeoutMs: timeoutMs } = options;
  const read = await incoming.read({ limit, budget, timeoutMs });
  if (!read.ok) return receiver.refuse(read.answer);
  return await receiver.receive({ body: read.body, signature, eventCount, traceparent });
}

function isAt(webhook: string, { path, mountedPath = path }: Incoming): boolean {
  return path === webhook || mountedPath === webhook;
}

/** Answers every request to the bot: the webhook and the health checks. It never rejects. */
export async function answerAny(incoming: Incoming, options: RouteOptions): Promise<Answer> {
  try {
    return (await answerWebhook(incoming, options)) ?? (await answerRest(incoming, options));
  } catch {
    return failure(500, "INTERNAL", "The request could not be handled.");
  }
}

async function answerRest(incoming: Incoming, options: RouteOptions): Promise<Answer> {
  const { method, path, query, authorization } = incoming;
  // A body that waits unread while the store is asked keeps each of its pieces.
  incoming.drop();
  if (path !== "/healthz" && path !== "/readyz") {
    const webhook = options.receiver === undefined ? "" : ` The webhook is at ${options.path}.`;
    return failure(404, "NOT_FOUND", `Nothing is here.${webhook}`);
  }
  if (method !== "GET" && method !== "HEAD") return methodNotAllowed("GET, HEAD");
  if (path === "/healthz") return json(200, { status: "ok" });
  const verbose = new URLSearchParams(query).has("verbose");
  if (verbose && options.maySeeReport(authorization)) return told(await options.report());
  const more = verbose ? { verbose: REPORT_REMEDY } : {};
  if (await options.isReady()) return json(200, { status: "ready", ...more });
  return verbose ? json(503, { error: notReady.error, ...more }, soon) : notReady;
}

/** Strangers reach the bot as if they were on this machine where a proxy runs beside it. */
const REPORT_REMEDY = "For the report send Authorization: Bearer <SERVICE_API_KEY>.";

const soon = { "retry-after": "5" };

const notReady = failure(
  503,
  "NOT_READY",
  "The bot is starting or stopping, or its store does not answer.",
  soon,
);

function told(report: { readonly ready: boolean }): Answer {
  return report.ready ? json(200, report) : json(503, report, soon);
}

function methodNotAllowed(allow: string): Answer {
  return failure(405, "METHOD_NOT_ALLOWED", `Use ${allow}.`, { allow });
}
