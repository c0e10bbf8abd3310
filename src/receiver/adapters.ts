import type { IncomingMessage, ServerResponse } from "node:http";
import { type BodyBounds, dropBody, readRequestBody, readWebBody } from "../core/body.ts";
import { BodyError } from "../core/body-budget.ts";
import { readRoute } from "../core/request-target.ts";
import { isBearer } from "../core/secrets.ts";
import { SIGNATURE_HEADER } from "../signature/signature.ts";
import {
  type Answer,
  failure,
  internal,
  json,
  methodNotAllowed,
  notReady,
  retryAfter,
} from "./answer.ts";
import { answerLocal, isLocalPath, type LocalChannel } from "./local-channel.ts";
import type { Incoming, Webhook } from "./receive.ts";

/** Handles requests to the webhook and calls `next` for all other requests, as Express expects. */
export type WebhookMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

export interface Endpoints {
  /** Absent without a webhook (DELIVERY=polling). */
  readonly webhook: Webhook | undefined;
  readonly health: HealthOptions;
}

/** Operations that the local platform may request, and the token that authorizes them. */
export interface LocalAccess {
  /** The bot's bearer token. It also grants access to the status report. */
  readonly apiKey: string;
  /** Absent unless the platform runs on this machine. */
  readonly local?: LocalChannel | undefined;
}

export interface HealthOptions extends LocalAccess {
  /** Resolves to true if the store responds and the bot is not draining. */
  readonly isReady: () => Promise<boolean>;
  /** Returns the body of `/readyz?verbose`. `ready` is the result of `isReady`. */
  readonly report: () => Promise<{ readonly ready: boolean }>;
  /** Token of monitoring, which grants access to the status report only. */
  readonly statusToken?: string | undefined;
  /** Absent without a webhook (DELIVERY=polling). */
  readonly webhookPath: string | undefined;
}

/** Creates a listener for a plain node:http server. */
export function toNodeListener(
  endpoints: Endpoints,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const respond = (answer: Answer) => write(request, response, answer);
    answerAny(new NodeIncoming(request), endpoints).then(respond, () => respond(internal));
  };
}

/** Creates a handler for web-standard requests. It needs neither a port nor a server. */
export function toFetch(endpoints: Endpoints): (request: Request) => Promise<Response> {
  return async (request) => {
    const answering = answerAny(fromWeb(request), endpoints);
    const { status, headers, body } = await answering.catch(() => internal);
    return new Response(request.method === "HEAD" ? null : body, { status, headers });
  };
}

export interface ExpressOptions {
  /** Called with the path of a signed request outside the webhook. The path is most likely misconfigured. */
  readonly onStray?: (path: string) => void;
  /** Whether to serve `/healthz` and `/readyz`. Otherwise only a request with a token gets the report. */
  readonly servesHealth?: boolean;
}

/**
 * Creates middleware for an existing Express 5 application.
 *
 * @param endpoints returns the current endpoints
 */
export function toExpress(
  endpoints: () => Endpoints,
  { onStray = () => undefined, servesHealth = false }: ExpressOptions = {},
): WebhookMiddleware {
  return (request, response, next) => {
    const incoming = new NodeIncoming(request);
    const { webhook: current, health } = endpoints();
    const answering =
      current?.receive(incoming) ??
      answerChannel(incoming, health) ??
      (servesHealth || asksForReport(incoming, health)
        ? answerHealth(incoming, health)
        : undefined);
    if (answering !== undefined) {
      // Respond to errors here, because the application's own error page could reveal details about the bot.
      void answering.catch(() => internal).then((answer) => write(request, response, answer));
      return;
    }
    const isSigned = incoming.headers[SIGNATURE_HEADER] !== undefined;
    if (current !== undefined && incoming.method === "POST" && isSigned) onStray(incoming.path);
    next();
  };
}

/** Responds to any request to the bot. */
function answerAny(incoming: Incoming, { webhook, health }: Endpoints): Promise<Answer> {
  return (
    webhook?.receive(incoming) ??
    answerChannel(incoming, health) ??
    answerHealth(incoming, health) ??
    answerOther(incoming, health)
  );
}

/** Returns the endpoints of a bot that has not started. */
export function endpointsBeforeStart({
  webhook,
  ...access
}: Pick<HealthOptions, "apiKey" | "statusToken" | "webhookPath"> &
  Pick<Endpoints, "webhook">): Endpoints {
  const isReady = async () => false;
  return { webhook, health: { ...access, isReady, report: async () => ({ ready: false }) } };
}

/**
 * Remedy if the report is refused. Even a client on this machine needs the token, because a local address may belong to
 * a proxy.
 */
const REPORT_REMEDY =
  "To read the report, send Authorization: Bearer with the value of STATUS_TOKEN or SERVICE_API_KEY.";

/** Returns the response to `/healthz` and `/readyz`, or `undefined` for any other path. */
function answerHealth(incoming: Incoming, health: HealthOptions): Promise<Answer> | undefined {
  for (const path of pathsOf(incoming)) {
    if (path === "/healthz") return answerProbe(incoming, async () => json(200, { status: "ok" }));
    if (path === "/readyz") return answerProbe(incoming, () => answerReady(incoming, health));
  }
  return undefined;
}

/** Returns the whole path, and the path below the mount point. Either may match, as for the webhook. */
function pathsOf({ path, mountedPath }: Incoming): readonly (string | undefined)[] {
  return [path, mountedPath];
}

async function answerProbe(incoming: Incoming, answer: () => Promise<Answer>): Promise<Answer> {
  const { method } = incoming;
  // Drop the body now, because otherwise it would stay in memory while the store is queried.
  incoming.drop();
  return method === "GET" || method === "HEAD" ? await answer() : methodNotAllowed("GET, HEAD");
}

async function answerReady(incoming: Incoming, health: HealthOptions): Promise<Answer> {
  if (asksForReport(incoming, health)) {
    const report = await health.report();
    return report.ready ? json(200, report) : json(503, report, retryAfter);
  }
  const more = isVerbose(incoming) ? { verbose: REPORT_REMEDY } : {};
  if (await health.isReady()) return json(200, { status: "ready", ...more });
  return json(503, { error: notReady.error, ...more }, retryAfter);
}

/** Returns whether a request with a token that may read the report asks for `/readyz?verbose`. */
function asksForReport(incoming: Incoming, health: HealthOptions): boolean {
  const isReport = pathsOf(incoming).includes("/readyz") && isVerbose(incoming);
  return isReport && mayReadReport(incoming.headers["authorization"], health);
}

function isVerbose({ query }: Incoming): boolean {
  return new URLSearchParams(query).has("verbose");
}

async function answerOther(incoming: Incoming, { webhookPath }: HealthOptions): Promise<Answer> {
  incoming.drop();
  const webhook = webhookPath === undefined ? "" : ` The webhook is at ${webhookPath}.`;
  return failure(404, "NOT_FOUND", `Not found.${webhook}`);
}

/**
 * Returns the response to the local platform, or `undefined` if the path differs or the request lacks the bot's token.
 */
function answerChannel(
  incoming: Incoming,
  { apiKey, local }: LocalAccess,
): Promise<Answer> | undefined {
  if (local === undefined || !isLocalPath(incoming.path)) return undefined;
  if (!isBearer(incoming.headers["authorization"], apiKey)) return undefined;
  incoming.drop();
  return answerLocal(incoming, local);
}

function mayReadReport(
  authorization: Incoming["headers"][string],
  { apiKey, statusToken }: HealthOptions,
): boolean {
  if (isBearer(authorization, apiKey)) return true;
  return statusToken !== undefined && isBearer(authorization, statusToken);
}

/** A node:http or Express request. Body parsers add fields, and Express adds the mount path. */
type NodeRequest = IncomingMessage & {
  readonly originalUrl?: string;
  readonly body?: unknown;
  readonly rawBody?: unknown;
};

class NodeIncoming implements Incoming {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly mountedPath: string;
  readonly #request: NodeRequest;

  constructor(request: NodeRequest) {
    this.#request = request;
    const { url = "/", originalUrl = url, method = "GET" } = request;
    this.method = method;
    // Use the path that the client sent, even if Express has mounted the middleware under a prefix.
    const { path, query } = readRoute(originalUrl);
    this.path = path;
    this.query = query;
    this.mountedPath = originalUrl === url ? path : readRoute(url).path;
  }

  get headers(): Incoming["headers"] {
    return this.#request.headers;
  }

  read(bounds: BodyBounds): Promise<Uint8Array> {
    return readNodeBody(this.#request, bounds);
  }

  drop(): void {
    dropBody(this.#request);
  }
}

function fromWeb(request: Request): Incoming {
  const { pathname, search } = new URL(request.url);
  const { path, query } = readRoute(pathname + search);
  return {
    method: request.method,
    path,
    query,
    headers: Object.fromEntries(request.headers),
    read: async (bounds) => {
      if (request.bodyUsed) throw new BodyError("already_read");
      return await readWebBody(request.body, bounds);
    },
    drop: () => void request.body?.cancel().catch(() => undefined),
  };
}

/**
 * Reads the raw bytes, from the stream or from the Buffer kept by a body parser. `express.raw()` keeps it in `body`,
 * and some hosts keep it in `rawBody`.
 */
function readNodeBody(request: NodeRequest, bounds: BodyBounds): Promise<Uint8Array> {
  for (const kept of [request.body, request.rawBody]) {
    if (kept instanceof Uint8Array) {
      const isFit = kept.length <= bounds.limit;
      return isFit ? Promise.resolve(kept) : Promise.reject(new BodyError("too_large"));
    }
  }
  if (request.readableDidRead || request.readableEnded) {
    return Promise.reject(new BodyError("already_read"));
  }
  return readRequestBody(request, bounds);
}

function write(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(answer.status, answer.headers);
  response.end(request.method === "HEAD" ? undefined : answer.body);
}
