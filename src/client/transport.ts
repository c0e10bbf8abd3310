import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { urlToHttpOptions } from "node:url";
import type { ApiRequest } from "./request.ts";
import { resetConnection } from "./reset.ts";
import { toHandshakeError } from "./unreachable.ts";

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The part of a response that the client reads. A web `Response` has it too. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
  /** `Content-Encoding` of the body. Absent if the transport decodes bodies, as `fetch` does. */
  readonly coding?: string;
}

/** The part of a request that is sent. */
export type SentRequest = Pick<ApiRequest, "method" | "url" | "headers" | "body">;

/** Sends a request. Resolves once the status has arrived. Does not follow redirects. */
export type Transport = (request: SentRequest, signal: AbortSignal) => Promise<ApiResponse>;

/** Returns a transport that calls a custom `fetch`, if there is one. An abort does not reset its connection. */
export function transportOf(fetch: Fetch | undefined): Transport {
  if (fetch === undefined) return overHttp;
  return ({ method, url, headers, body }, signal) =>
    fetch(url, { method, headers, body, redirect: "manual", signal });
}

/**
 * Sends requests with `node:http`, which takes a third of the processor time of the global `fetch`. Uses Node's shared
 * agents, which keep connections open and follow `NODE_USE_ENV_PROXY`.
 */
const overHttp: Transport = async (request, signal) => {
  if (typeof request.body === "string" || request.body === null) {
    return await send(request, request.headers, request.body, signal);
  }
  const form = new Response(request.body);
  const headers = { ...request.headers, "content-type": form.headers.get("content-type") ?? "" };
  return await send(request, headers, await form.bytes(), signal);
};

function send(
  { method, url }: SentRequest,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array | null,
  signal: AbortSignal,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const isSecure = url.startsWith("https:");
    const { request: open } = process.getBuiltinModule(isSecure ? "node:https" : "node:http");
    const request = open({ ...targetOf(url), method });
    let response: IncomingMessage | undefined;
    const abort = () => {
      // An aborted write must not arrive later, because the bot may have sent it again by then.
      if (method !== "GET" && request.socket !== null) resetConnection(request.socket);
      (response ?? request).destroy(signal.reason);
      // While the request waits for a connection, `destroy` has no immediate effect.
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort);
    request.on("response", (message) => {
      response = message;
      // Otherwise, Node would keep the connection until the rest of the body is written.
      message.once("end", () => request.writableFinished || request.destroy());
      resolve(toResponse(message));
    });
    const isHandshaking = isSecure ? watchHandshake(request) : () => false;
    request.on("error", (error) => reject(isHandshaking() ? toHandshakeError(error) : error));
    request.on("close", () => {
      signal.removeEventListener("abort", abort);
      if (response !== undefined) return;
      // No response and no error arrive if the connection has switched to another protocol.
      reject(new Error("the connection closed before a response arrived"));
    });
    // Headers in the options would stay with the connection, and the token with them.
    for (const [field, value] of Object.entries(headers)) request.setHeader(field, value);
    request.end(body);
  });
}

type Server = Pick<RequestOptions, "protocol" | "hostname" | "port">;

/** The last server. Parsing a URL takes a tenth of a request, and most processes send requests to one server. */
let last: { readonly origin: string; readonly server: Server } | undefined;

function targetOf(url: string): Server & { readonly path: string } {
  // Every URL has a path.
  const end = url.indexOf("/", url.indexOf("://") + "://".length);
  const origin = url.slice(0, end);
  if (last?.origin !== origin) {
    const { protocol, hostname, port } = urlToHttpOptions(new URL(origin));
    last = { origin, server: { protocol, hostname, port } };
  }
  return { ...last.server, path: url.slice(end) };
}

/** Returns a function that returns true between the TCP connection and the end of the TLS handshake. */
function watchHandshake(request: ClientRequest): () => boolean {
  let isRunning = false;
  request.on("socket", (socket) => {
    if (request.reusedSocket) return;
    socket.once("connect", () => {
      isRunning = true;
    });
    socket.once("secureConnect", () => {
      isRunning = false;
    });
  });
  return () => isRunning;
}

function toResponse(message: IncomingMessage): ApiResponse {
  const { statusCode = 0, headers } = message;
  const get = (name: string) => {
    const value = headers[name];
    return value === undefined ? null : String(value);
  };
  const coding = headers["content-encoding"] ?? "";
  return { status: statusCode, headers: { get }, body: message, coding };
}
