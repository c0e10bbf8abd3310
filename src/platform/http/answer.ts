import type { Response } from "express";
import type { Logger } from "../../core/logger.ts";
import { PlatformError } from "../error.ts";

/** An answer before it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer as it goes over the wire. */
export interface WrittenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

export function written({ status, body, headers = {} }: Answer): WrittenAnswer {
  const type = { "content-type": "application/json; charset=utf-8" };
  return { status, headers: { ...headers, ...type }, bytes: Buffer.from(JSON.stringify(body)) };
}

/** Sends an answer, unless the client is gone. */
export function send(response: Response, answer: Answer): void {
  if (!response.headersSent && !response.destroyed) sendWritten(response, written(answer));
}

/** The same of one that is written already. */
export function sendWritten(response: Response, { status, headers, bytes }: WrittenAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.status(status).set(headers).send(bytes);
}

/** Makes the answer to a failed request. An error of ours is logged and shows nothing of itself. */
export function errorAnswer(error: unknown, logger: Logger): Answer {
  const known = asPlatformError(error);
  if (known === undefined) logger.error({ err: error }, "a request failed inside the platform");
  const { status, code, message, headers } =
    known ?? new PlatformError(500, "INTERNAL", "The local platform has failed; see its log.");
  return { status, headers, body: { error: { code, message } } };
}

function asPlatformError(error: unknown): PlatformError | undefined {
  if (error instanceof PlatformError) return error;
  // Express throws this for a path that cannot be decoded.
  if (error instanceof URIError)
    return new PlatformError(400, "VALIDATION", "The path is malformed.");
  return undefined;
}

/** Aborts when the client goes away before it has its answer. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableEnded) gone.abort();
  });
  if (response.destroyed) gone.abort();
  return gone.signal;
}
