import type { BodyProblem } from "../core/body-budget.ts";
import type { ErrorCode } from "../errors.ts";

/** An HTTP response, before an adapter writes it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Reason for a response other than 2xx, for the log. */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

type Headers = Readonly<Record<string, string>>;

export function json(status: number, body: unknown, headers: Headers = {}): Answer {
  const text = JSON.stringify(body);
  return {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(text)),
      ...headers,
    },
    body: text,
  };
}

/** Returns a response with the body `{"error":{"code","message"}}`. A sender sees nothing else. */
export function failure(
  status: number,
  code: ErrorCode,
  message: string,
  headers: Headers = {},
): Answer {
  const error = { code, message };
  return { ...json(status, { error }, headers), error };
}

export function methodNotAllowed(allow: string): Answer {
  return failure(405, "METHOD_NOT_ALLOWED", `Use ${allow}.`, { allow });
}

/** Time after which a sender may retry if the bot is not ready or is reading too many bodies, in seconds. */
export const retryAfter: Headers = { "retry-after": "5" };

export const notReady: Answer = failure(
  503,
  "NOT_READY",
  "The bot is starting or stopping, or its database does not respond.",
  retryAfter,
);

export const internal: Answer = failure(500, "INTERNAL", "The request failed inside the bot.");

export const noEvents: Answer = failure(
  400,
  "BODY_INVALID",
  'The body must be JSON of the form {"events":[…]}.',
);

/** Remedy for a body in another form than the platform sends. */
export const ENCODED: string =
  "The body has a Content-Encoding, but the platform signs and sends plain JSON. Turn off compression of requests in " +
  "the proxy.";

export const encoded: Answer = failure(415, "BODY_ENCODED", ENCODED, {
  "accept-encoding": "identity",
});

export const tooComplex: Answer = failure(
  413,
  "BODY_TOO_COMPLEX",
  "The body has too many events, values or field names for its size.",
);

export const inboxFull: Answer = failure(
  503,
  "INBOX_FULL",
  "Too many events are pending. Try again later.",
  retryAfter,
);

export const storeUnavailable: Answer = failure(
  503,
  "STORE_UNAVAILABLE",
  "The bot cannot store the delivery now. Try again later.",
  retryAfter,
);

export function bodyFailure(problem: BodyProblem, limit: number): Answer {
  return bodyFailures[problem](limit);
}

const ALREADY_PARSED =
  "Another middleware has already read the body, so the bot cannot check the signature. " +
  "Mount bot.middleware() before express.json() and other body parsers.";

const close = { connection: "close" };

const bodyFailures: Readonly<Record<BodyProblem, (limit: number) => Answer>> = {
  // Keep the connection open while the rest of the body is dropped, because a proxy turns a reset connection into a
  // 502.
  too_large: (limit) => failure(413, "BODY_TOO_LARGE", `The body is larger than ${limit} bytes.`),
  incomplete: () =>
    failure(400, "BODY_INCOMPLETE", "The connection closed before the body was complete."),
  length_mismatch: () =>
    failure(400, "BODY_INCOMPLETE", "The body is shorter than Content-Length."),
  timeout: () => failure(408, "BODY_TIMEOUT", "The body did not arrive in time.", close),
  fragmented: () =>
    failure(400, "BODY_FRAGMENTED", "The body arrived in too many small chunks.", close),
  busy: () =>
    failure(503, "BODIES_BUSY", "The bot is reading too many bodies. Try again later.", {
      ...close,
      ...retryAfter,
    }),
  already_read: () => failure(500, "BODY_ALREADY_PARSED", ALREADY_PARSED),
};
