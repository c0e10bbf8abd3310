import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { BodyBudget } from "../../core/body/budget.ts";
import { dropBody } from "../../core/body/read.ts";
import { hasCode } from "../../errors.ts";
import type { Admitted } from "./admission.ts";
import { refusal, unavailable } from "./answers.ts";
import { CallLimiter, type CallPermit, MAX_MESSAGE_BYTES_HELD } from "./call-limiter.ts";
import { ArrivingMessage } from "./read-message.ts";

/** Handles the requests of a `node:http` server. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A request whose token and body are known. */
export interface Call {
  readonly admitted: Admitted;
  readonly request: Request;
  /** The body, parsed. */
  readonly message: unknown;
}

export interface ListenerOptions {
  /** Identifies the bot of a request by its headers, or refuses it. */
  readonly admit: (request: IncomingMessage) => Promise<Admitted | Response>;
  readonly serve: (call: Call) => Promise<Response>;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** In ms. Most calls end within a second. */
const RETRY_AFTER_MS = 1_000;

/**
 * Builds a `node:http` listener. A refusal by the headers does not wait for the body. The body is read within its budget
 * meanwhile, because a request that waits unread keeps each piece of it by itself. Only POST has a body to read.
 */
export function nodeListener({ admit, serve, closing, onError }: ListenerOptions): NodeListener {
  const limiter = new CallLimiter();
  const budget = new BodyBudget(MAX_MESSAGE_BYTES_HELD);
  return async (request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing]);
    let permit: CallPermit | undefined;
    const arriving = request.method === "POST" ? new ArrivingMessage(request, budget) : undefined;
    try {
      if (arriving === undefined) {
        dropBody(request);
        await send(response, notPost());
        return;
      }
      const admitted = await admit(request);
      if (gone.signal.aborted) return;
      permit = admitted instanceof Response ? undefined : limiter.admit(admitted.fingerprint);
      await send(
        response,
        admitted instanceof Response
          ? closeAfter(admitted)
          : await answer({ request, arriving, admitted, permit, signal, serve }),
      );
    } catch (error) {
      if (gone.signal.aborted) return;
      onError(error);
      const failed = refusal(500, "The MCP server has failed; its log says more.", {}, -32_603);
      if (response.headersSent) response.destroy();
      else await send(response, closeAfter(failed));
    } finally {
      permit?.release();
      arriving?.release();
    }
  };
}

interface Answering extends Pick<ListenerOptions, "serve"> {
  readonly request: IncomingMessage;
  readonly admitted: Admitted;
  readonly arriving: ArrivingMessage;
  readonly permit: CallPermit | undefined;
  readonly signal: AbortSignal;
}

async function answer(answering: Answering): Promise<Response> {
  const { request, arriving, admitted, permit, signal, serve } = answering;
  if (permit === undefined) return busy();
  const body = await arriving.take();
  if (body instanceof Response) return closeAfter(body);
  if (!permit.reserve(body.byteLength)) return busy();
  const message = parse(body);
  if (message === undefined) return refusal(400, "The body is no JSON.", {}, -32_700);
  return await serve({ admitted, message, request: toRequest(request, signal) });
}

function notPost(): Response {
  const message = "Messages are sent by POST: there are no sessions.";
  return closeAfter(refusal(405, message, { Allow: "POST" }));
}

function busy(): Response {
  return closeAfter(unavailable("Too many calls are under way: try again.", RETRY_AFTER_MS));
}

/** Closes the connection with the answer, so that an unread body is dropped. */
function closeAfter(response: Response): Response {
  response.headers.set("Connection", "close");
  return response;
}

/** Parses JSON. @returns `undefined` if it is none */
function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** Copies the headers; the body is parsed already. */
function toRequest({ rawHeaders }: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  return new Request("http://localhost/mcp", { method: "POST", headers, signal });
}

async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  if (response.destroyed) {
    // The source of the stream must learn that its reader is gone.
    await body?.cancel();
    return;
  }
  response.writeHead(status, Object.fromEntries(headers));
  // A stream may stay silent for long; the client must see at once that it is open.
  response.flushHeaders();
  if (body === null) {
    response.end();
    return;
  }
  try {
    await pipeline(body, response);
  } catch (error) {
    // The client is gone.
    if (!hasCode(error, "ERR_STREAM_PREMATURE_CLOSE")) throw error;
  }
}
