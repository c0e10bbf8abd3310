import { createHash, timingSafeEqual } from "node:crypto";
import { type Answer, failure, json, methodNotAllowed, notReady, retryAfter } from "./answer.ts";
import type { Incoming } from "./receive.ts";

export interface HealthOptions {
  /** True when the store answers and the bot is not draining. */
  readonly isReady: () => Promise<boolean>;
  /** The content of `/readyz?verbose`; `ready` is the result of `isReady`. */
  readonly report: () => Promise<{ readonly ready: boolean }>;
  /** The bearer token that opens the report. */
  readonly apiKey: string;
  /** Absent without a webhook (DELIVERY=polling). */
  readonly webhookPath: string | undefined;
}

/** Strangers reach the bot as if they were on this machine where a proxy runs beside it. */
const REPORT_REMEDY = "For the report send Authorization: Bearer <SERVICE_API_KEY>.";

/** Answers `/healthz` and `/readyz`, and 404 for anything else. */
export async function answerHealth(incoming: Incoming, options: HealthOptions): Promise<Answer> {
  const { method, path, query, headers } = incoming;
  // A body that waits unread while the store is asked keeps each of its pieces.
  incoming.drop();
  if (path !== "/healthz" && path !== "/readyz") {
    const { webhookPath } = options;
    const webhook = webhookPath === undefined ? "" : ` The webhook is at ${webhookPath}.`;
    return failure(404, "NOT_FOUND", `Nothing is here.${webhook}`);
  }
  if (method !== "GET" && method !== "HEAD") return methodNotAllowed("GET, HEAD");
  if (path === "/healthz") return json(200, { status: "ok" });
  const isVerbose = new URLSearchParams(query).has("verbose");
  if (isVerbose && isBearer(headers["authorization"], options.apiKey)) {
    const report = await options.report();
    return report.ready ? json(200, report) : json(503, report, retryAfter);
  }
  const more = isVerbose ? { verbose: REPORT_REMEDY } : {};
  if (await options.isReady()) return json(200, { status: "ready", ...more });
  return isVerbose ? json(503, { error: notReady.error, ...more }, retryAfter) : notReady;
}

/** Compares in constant time. */
function isBearer(header: string | readonly string[] | undefined, token: string): boolean {
  const given = typeof header === "string" && /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
  return typeof given === "string" && timingSafeEqual(digest(given), digest(token));
}

/** Gives texts of any length the same length, because the comparison needs it. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
