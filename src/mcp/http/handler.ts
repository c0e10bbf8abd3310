import { Client } from "../../client/client.ts";
import { probeScopes, type Scope } from "../../client/scopes.ts";
import { tokenProblem } from "../../core/access.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { Access, TokenRefused } from "../access.ts";
import { MAX_MESSAGE_BYTES } from "../limits.ts";
import { tellChanges } from "../notify.ts";
import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
  originValidationResponse,
  type Server,
} from "../sdk.ts";
import { buildServer } from "../server.ts";
import { refusal } from "./answers.ts";
import { type NodeListener, nodeListener } from "./node.ts";
import { Sessions } from "./sessions.ts";
import { Tokens } from "./tokens.ts";

export interface HttpOptions {
  /** Origin of the platform, without `/api/v1`. */
  readonly baseUrl: string;
  /** The scopes of every token; found out for each where they are not given. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Names that it answers to besides those of this machine, without scheme and port. */
  readonly allowHosts?: readonly string[] | undefined;
  /** True where somebody before it looks at the host of a request. */
  readonly anyHost?: boolean | undefined;
  readonly logger: Logger;
  readonly clock?: Clock | undefined;
}

/**
 * MCP over Streamable HTTP. Whose bot it is, each request says itself, by its bearer token: that goes on to the
 * platform, and none is kept. Clients of the protocol of 2026 need no session; those of 2025 have one each, which
 * belongs to the token it began with.
 */
export class McpHttp {
  readonly #options: HttpOptions;
  readonly #hosts: string[];
  readonly #tokens = new Tokens();
  readonly #sessions: Sessions;
  readonly #modern: McpHttpHandler;

  constructor(options: HttpOptions) {
    this.#options = options;
    const { clock = systemClock, logger, allowHosts = [] } = options;
    this.#hosts = [...localhostAllowedHostnames(), ...allowHosts];
    const onError = (error: Error) => logger.debug({ err: error }, "a request had a problem");
    this.#sessions = new Sessions({
      clock,
      build: (auth) => tellChanges(this.#server(auth), this.#accessOf(auth)),
      onError,
    });
    this.#modern = createMcpHandler(
      ({ authInfo }) => {
        if (authInfo === undefined) throw new Error("A request came through without its token.");
        return this.#server(authInfo);
      },
      { legacy: "reject", maxRequestBodySize: MAX_MESSAGE_BYTES, onerror: onError },
    );
  }

  /** For a server of Node. */
  get listener(): NodeListener {
    return nodeListener({
      admit: (head) => this.#admit(head),
      serve: (request, auth) => this.#serve(request, auth),
      onError: (error) => this.#options.logger.error({ err: error }, "a request failed"),
    });
  }

  /** Whose request it is, if it may come in. */
  async #admit(request: Request): Promise<AuthInfo | Response> {
    const strange = this.#strange(request);
    if (strange !== undefined) return strange;
    const token = bearerOf(request);
    if (token === undefined) {
      const message = "Send the bot's token: Authorization: Bearer <API_KEY>.";
      return refusal(401, message, { "WWW-Authenticate": "Bearer" });
    }
    const auth: AuthInfo = { token, clientId: this.#tokens.fingerprint(token), scopes: [] };
    try {
      // Nothing is done for a token that the platform does not know.
      const { baseUrl } = this.#options;
      await this.#accessOf(auth).scopes(() => probeScopes({ baseUrl, apiKey: token }));
      return auth;
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      return refusal(401, error.message, { "WWW-Authenticate": 'Bearer error="invalid_token"' });
    }
  }

  /** A web page can point a name of its own at this machine: its host, or its origin, gives it away. */
  #strange(request: Request): Response | undefined {
    const host = URL.parse(`http://${request.headers.get("host")}`)?.hostname ?? "";
    const strangeHost = this.#options.anyHost
      ? undefined
      : hostHeaderValidationResponse(request, this.#hosts);
    return strangeHost ?? originValidationResponse(request, [...localhostAllowedOrigins(), host]);
  }

  async #serve(request: Request, auth: AuthInfo): Promise<Response> {
    return (await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_MESSAGE_BYTES }))
      ? await this.#sessions.handle(request, auth)
      : await this.#modern.fetch(request, { authInfo: auth });
  }

  /** Ends every session and stream. */
  async close(): Promise<void> {
    await Promise.all([this.#sessions.close(), this.#modern.close()]);
  }

  #server(auth: AuthInfo): Server {
    const { baseUrl, logger, clock = systemClock } = this.#options;
    return buildServer({
      ...{ baseUrl, logger },
      access: this.#accessOf(auth),
      // Each request brings its own: a server lives longer than one.
      tokenOf: ({ http }) => http?.authInfo?.token ?? "",
      clientOf: (apiKey) => new Client({ baseUrl, apiKey, clock }),
    });
  }

  #accessOf({ clientId }: AuthInfo): Access {
    const { scopes, clock } = this.#options;
    return this.#tokens.access(clientId, () => {
      const access = new Access({ given: scopes, clock });
      access.onChange(() => this.#modern.notify.toolsChanged());
      return access;
    });
  }
}

/** The token of a request; undefined where there is none that could be. */
function bearerOf(request: Request): string | undefined {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return token === undefined || tokenProblem(token) !== undefined ? undefined : token;
}
