import type { IncomingMessage, ServerResponse } from "node:http";
import { dropBody } from "../core/body/read.ts";
import { TRACEPARENT_HEADER } from "../core/trace.ts";
import { SIGNATURE_HEADER } from "../signature/signature.ts";
import { type Answer, failure } from "./answer.ts";
import { EVENT_COUNT_HEADER } from "./event-count.ts";
import { type BodyRequest, readFetchBody, readNodeBody } from "./read-body.ts";
import {
  answerAny,
  answerWebhook,
  type Incoming,
  type RouteOptions,
  type WebhookOptions,
} from "./routes.ts";

/** Handles what is meant for the webhook and calls `next` for everything else, as Express expects. */
export type WebhookMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** The webhook inside an existing Express 5 application. */
export function expressFace(
  options: WebhookOptions,
  onStray: (path: string) => void = () => undefined,
): WebhookMiddleware {
  return (request, response, next) => {
    const incoming = fromNode(request);
    answerWebhook(incoming, options).then(
      (answer) => {
        if (answer !== undefined) write(response, answer, request.method);
        else {
          if (options.receiver !== undefined && isSignedPost(incoming)) onStray(incoming.path);
          next();
        }
      },
      // The application's own error page must not show what went wrong in here.
      () => write(response, internal, request.method),
    );
  };
}

/** The webhook and the health checks as the listener of a plain node:http server. */
export function nodeFace(
  options: RouteOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    void answerAny(fromNode(request), options).then((answer) =>
      write(response, answer, request.method),
    );
  };
}

/** The same for web-standard requests: no port, no server. */
export function webFace(options: RouteOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const { status, headers, body } = await answerAny(fromWeb(request), options);
    return new Response(request.method === "HEAD" ? null : body, { status, headers });
  };
}

/** Returns whether a request looks like a delivery. One that no webhook takes is most likely on a wrong path. */
function isSignedPost({ method, signature }: Incoming): boolean {
  return method === "POST" && signature !== undefined;
}

const internal = failure(500, "INTERNAL", "The request could not be handled.");

function fromNode(request: BodyRequest & { readonly originalUrl?: string }): Incoming {
  return {
    method: request.method ?? "GET",
    // As the client sent it, also where Express has mounted the middleware under a prefix.
    ...target(request.originalUrl ?? request.url ?? "/"),
    mountedPath: target(request.url ?? "/").path,
    signature: request.headers[SIGNATURE_HEADER],
    eventCount: request.headers[EVENT_COUNT_HEADER],
    authorization: request.headers.authorization,
    traceparent: request.headers[TRACEPARENT_HEADER],
    read: (bounds) => readNodeBody(request, bounds),
    drop: () => dropBody(request),
  };
}

function fromWeb(request: Request): Incoming {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    ...target(pathname + search),
    signature: request.headers.get(SIGNATURE_HEADER) ?? undefined,
    eventCount: request.headers.get(EVENT_COUNT_HEADER) ?? undefined,
    authorization: request.headers.get("authorization") ?? undefined,
    traceparent: request.headers.get(TRACEPARENT_HEADER) ?? undefined,
    read: (bounds) => readFetchBody(request, bounds),
    drop: () => void request.body?.cancel().catch(() => undefined),
  };
}

/** A slash at the end is forgiven: it is a common slip in the portal's address field. */
function target(url: string): Pick<Incoming, "path" | "query"> {
  const [path = "/", ...rest] = url.split("?");
  const bare = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return { path: bare, query: rest.join("?") };
}

function write(response: ServerResponse, answer: Answer, method: string | undefined): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(answer.status, { ...answer.headers });
  response.end(method === "HEAD" ? undefined : answer.body);
}
