import type { ErrorCode } from "../errors.ts";

/** An HTTP answer, before it is written to whichever kind of response there is. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Why it is not 2xx, for the log. */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/** A JSON answer. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
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

/** `{"error":{"code","message"}}`: what a sender may know, and nothing else. */
export function failure(
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const error = { code, message };
  return { ...json(status, { error }, headers), error };
}
