import type { RequestListener } from "node:http";
import { Client } from "../client/index.ts";
import { probeScope, probeScopes } from "../client/scopes.ts";
import type { Fetch } from "../client/transport.ts";
import { hostCheck, loopbackNames, normalHost, tokenProblem } from "../core/addresses.ts";
import { receiveWebBody } from "../core/body.ts";
import { BodyBudget, BodyError } from "../core/body-budget.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { isTooComplex } from "../core/json-bounds.ts";
import type { Logger } from "../core/logger.ts";
import type { Scope } from "../core/platform-contract.ts";
import { readRoute } from "../core/request-target.ts";
import { decodeUtf8 } from "../core/utf8.ts";
import { toNodeListener } from "../core/web-adapter.ts";
import { Access, Tokens } from "./access.ts";
import { createMcpHandler, type McpHttpHandler, type McpRequestContext } from "./sdk.ts";
import { createMcpServer } from "./server.ts";

/**
 * Maximum size of one message, in bytes. A 5 MB image (section 4 of the platform document, rule 1) is 7 MB of base64,
 * and up to 5 % more with line breaks.
 */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Maximum size of all messages in progress, in bytes. */
const MAX_BYTES_UNDER_WAY = 8 * MAX_MESSAGE_BYTES;

/** Maximum number of requests in progress, until their responses are sent. */
const MAX_CALLS = 256;

/**
 * Maximum number of requests with tokens that the platform has not accepted before. Keeps calls free for known clients.
 */
const MAX_UNFAMILIAR_CALLS = 32;

/**
 * Maximum number of open notification streams (2026 protocol), which never send anything. Lower than MAX_CALLS, so that
 * streams cannot block calls.
 */
const MAX_STREAMS = 128;

/** Value of `Retry-After`, in seconds. Calls and token checks end within a few seconds. */
const RETRY_AFTER_S = 2;

export interface HttpOptions {
  /** The platform's origin, without `/api/v1`. */
  readonly baseUrl: string;
  /** Permitted scopes for every token. Default: each token's probed scopes. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly logger: Logger;
  readonly clock?: Clock | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
}

/** Requests in progress, until their responses are sent. */
interface UnderWay {
  calls: number;
  /** Calls with tokens that the platform has not accepted before. */
  unfamiliar: number;
  bytes: number;
}

interface Call extends UnderWay {
  /** True if the call stays counted until its response is sent. A refused call is released immediately. */
  isAdmitted: boolean;
}

/**
 * Serves MCP over stateless Streamable HTTP. A request's bearer token identifies its bot, and each request gets its own
 * server. The token is forwarded to the platform and not stored.
 */
export class McpHttp {
  readonly #options: HttpOptions;
  readonly #closing = new AbortController();
  readonly #bodies = new BodyBudget(MAX_BYTES_UNDER_WAY);
  readonly #tokens: Tokens;
  readonly #handler: McpHttpHandler;
  readonly #underWay: UnderWay = { calls: 0, unfamiliar: 0, bytes: 0 };

  constructor(options: HttpOptions) {
    this.#options = options;
    const { baseUrl, scopes, clock = systemClock, logger, fetch = globalThis.fetch } = options;
    const { signal } = this.#closing;
    this.#tokens = new Tokens({
      clock,
      lookUp: (apiKey) => probeScope({ baseUrl, apiKey, signal, fetch }, "read"),
      newAccess: () => new Access({ scopes, clock }),
    });
    this.#handler = createMcpHandler((context) => this.#createServer(context), {
      legacy: "stateless",
      maxSubscriptions: MAX_STREAMS,
      onerror: (error) => logger.debug({ err: error }, "a client sent a malformed request"),
    });
  }

  /**
   * Serves MCP at `path` on a separate HTTP server.
   *
   * @param allowHosts accepted host names in addition to this machine's, without scheme and port
   */
  listener(path: string, allowHosts: readonly string[]): RequestListener {
    const isOurs = hostCheck(allowHosts);
    return toNodeListener(
      async (request, original) => {
        if (readRoute(original.url ?? "").path !== path) {
          return errorResponse(404, `MCP is at ${path}.`);
        }
        return isOurs(original)
          ? await this.fetch(request)
          : errorResponse(
              403,
              "The server does not accept this host name. Start it with --allow-host NAME.",
            );
      },
      (error) => this.#options.logger.error({ err: error }, "a request failed"),
    );
  }

  /** Responds to a request whose `Host` was already checked. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const { method, headers } = request;
    if (method !== "POST") {
      return errorResponse(405, "Use POST. The server has no sessions.", { Allow: "POST" });
    }
    if (!isFromOwnPage(request))
      return errorResponse(403, "Requests from other web pages are refused.");
    const token = bearerOf(headers);
    if (token === undefined) {
      return unauthorized("The token is missing. Send Authorization: Bearer <API_KEY>.", "Bearer");
    }
    const unfamiliar = this.#tokens.isFamiliar(token) ? 0 : 1;
    const { calls, unfamiliar: strangers } = this.#underWay;
    if (calls >= MAX_CALLS || strangers + unfamiliar > MAX_UNFAMILIAR_CALLS) {
      return unavailable("Too many calls at once. Try again.");
    }
    const call: Call = { calls: 1, unfamiliar, bytes: 0, isAdmitted: false };
    this.#count(call, 1);
    try {
      const answer = await this.#serve(request, token, call);
      const end = () => this.#count(call, -1);
      if (call.isAdmitted) return whenSent(answer, end);
      end();
      return answer;
    } catch (error) {
      this.#count(call, -1);
      if (request.signal.aborted) throw error;
      this.#options.logger.error({ err: error }, "a request failed");
      return errorResponse(500, "The MCP server failed. Read its log.", {}, -32_603);
    }
  };

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#handler.close();
  }

  async #serve(request: Request, token: string, call: Call): Promise<Response> {
    // Read the body immediately, because each chunk of an unread body takes memory.
    const arriving = receiveWebBody(request.body, {
      limit: MAX_MESSAGE_BYTES,
      budget: this.#bodies,
    });
    arriving.catch(() => undefined);
    const access = await this.#tokens.check(token);
    if (access === "refused" || access === "unknown") {
      arriving.then((body) => body.release()).catch(() => undefined);
      return access === "unknown"
        ? unavailable("The platform cannot check the token now. Try again.")
        : unauthorized(
            "The platform rejects the bearer token. Check it.",
            'Bearer error="invalid_token"',
          );
    }
    const bytes = await arriving.then((body) => body.take()).catch(refusalOf);
    if (bytes instanceof Response) return bytes;
    if (this.#underWay.bytes + bytes.byteLength > MAX_BYTES_UNDER_WAY) {
      return unavailable("Too many messages at once. Try again.");
    }
    call.bytes = bytes.byteLength;
    this.#underWay.bytes += call.bytes;
    call.isAdmitted = true;
    if (isTooComplex(bytes))
      return errorResponse(413, "The message has too many values for its size.");
    const parsedBody = parse(bytes);
    if (parsedBody === undefined) return errorResponse(400, "The body is not JSON.", {}, -32_700);
    const { method, headers, url } = request;
    const signal = AbortSignal.any([request.signal, this.#closing.signal]);
    const authInfo = { token, clientId: "", scopes: [], extra: { access } };
    return await this.#handler.fetch(new Request(url, { method, headers, signal }), {
      authInfo,
      parsedBody,
    });
  }

  #createServer({ authInfo }: McpRequestContext) {
    const { baseUrl, logger, clock = systemClock, fetch = globalThis.fetch } = this.#options;
    const access = authInfo?.extra?.access;
    if (!(access instanceof Access)) throw new Error("The request has no token.");
    const apiKey = authInfo?.token ?? "";
    const { signal } = this.#closing;
    const probe = () => probeScopes({ baseUrl, apiKey, signal, fetch });
    const client = new Client({ baseUrl, apiKey, clock, fetch: this.#options.fetch });
    return createMcpServer({ baseUrl, logger, access, probe, client, fetch });
  }

  #count(call: UnderWay, sign: 1 | -1): void {
    const all = this.#underWay;
    all.calls += sign * call.calls;
    all.unfamiliar += sign * call.unfamiliar;
    all.bytes += sign * call.bytes;
  }
}

/** Returns true if no web page sent the request, or if the page is on this machine or on the requested host. */
function isFromOwnPage({ headers, url }: Request): boolean {
  const origin = headers.get("origin");
  if (origin === null) return true;
  const name = normalHost(URL.parse(origin)?.hostname ?? "");
  return name !== "" && (loopbackNames.has(name) || name === normalHost(new URL(url).hostname));
}

function bearerOf(headers: Headers): string | undefined {
  const token = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return token === undefined || tokenProblem(token) !== undefined ? undefined : token;
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(body));
  } catch {
    return undefined;
  }
}

function refusalOf(error: unknown): Response {
  switch (error instanceof BodyError ? error.problem : "incomplete") {
    case "too_large":
      return errorResponse(413, `The message exceeds ${MAX_MESSAGE_BYTES} bytes.`);
    case "busy":
      return unavailable("Too many messages at once. Try again.");
    case "timeout":
      return errorResponse(408, "The message did not arrive in time.");
    case "fragmented":
      return errorResponse(400, "The message arrived in too many small chunks.", {}, -32_700);
    default:
      return errorResponse(400, "Cannot read the message.", {}, -32_700);
  }
}

/** Calls `release` once the response is sent or its recipient has disconnected. */
function whenSent(answer: Response, release: () => void): Response {
  if (answer.body === null) {
    release();
    return answer;
  }
  const ends = { flush: release, cancel: release };
  const passage = new TransformStream<Uint8Array, Uint8Array>(ends);
  return new Response(answer.body.pipeThrough(passage), answer);
}

/** Returns a JSON-RPC error. It closes the connection, so that an unread body is dropped. */
function errorResponse(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code = -32_000,
): Response {
  const body = { jsonrpc: "2.0", error: { code, message }, id: null };
  return Response.json(body, { status, headers: { ...headers, Connection: "close" } });
}

function unauthorized(message: string, challenge: string): Response {
  return errorResponse(401, message, { "WWW-Authenticate": challenge });
}

function unavailable(message: string): Response {
  return errorResponse(503, message, { "Retry-After": `${RETRY_AFTER_S}` });
}
