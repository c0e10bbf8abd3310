import { Client } from "../../client/client.ts";
import { probeScope } from "../../client/scopes.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import { hostCheck } from "../../core/hosts.ts";
import type { Logger } from "../../core/logger.ts";
import type { Scope } from "../../core/scope.ts";
import { Access } from "../access.ts";
import { MAX_MESSAGE_BYTES } from "../limits.ts";
import { tellChanges } from "../notify.ts";
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
} from "../sdk.ts";
import { buildServer } from "../server.ts";
import { Admission, type Admitted } from "./admission.ts";
import { type NodeListener, nodeListener } from "./node.ts";
import { Sessions } from "./sessions.ts";

export interface HttpOptions {
  /** Origin of the platform, without `/api/v1`. */
  readonly baseUrl: string;
  /** The only scopes that are used, of every token; found out for each where they are not given. */
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
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #admission: Admission;
  readonly #sessions: Sessions;
  readonly #modern: McpHttpHandler;

  constructor(options: HttpOptions) {
    this.#options = options;
    const { baseUrl, scopes, clock = systemClock, logger, allowHosts = [], anyHost } = options;
    this.#clock = clock;
    const signal = this.#closing.signal;
    this.#admission = new Admission({
      isOurs: anyHost === true ? () => true : hostCheck(allowHosts),
      ask: (apiKey) => probeScope({ baseUrl, apiKey, signal }, "read"),
      newAccess: () => {
        const access = new Access({ given: scopes, clock });
        access.onChange(() => this.#modern.notify.toolsChanged());
        return access;
      },
    });
    const onError = (error: Error) => logger.debug({ err: error }, "a request has a problem");
    this.#sessions = new Sessions({
      clock,
      build: (access) => tellChanges(this.#server(access), access),
      onError,
    });
    this.#modern = createMcpHandler(({ authInfo }) => this.#server(accessIn(authInfo)), {
      legacy: "reject",
      maxRequestBodySize: MAX_MESSAGE_BYTES,
      onerror: onError,
    });
  }

  /** For a server of Node. */
  get listener(): NodeListener {
    return nodeListener({
      admit: (request) => this.#admission.admit(request),
      serve: (request, admitted) => this.#serve(request, admitted),
      onError: (error) => this.#options.logger.error({ err: error }, "a request failed"),
    });
  }

  async #serve(request: Request, { token, fingerprint, access }: Admitted): Promise<Response> {
    const auth: AuthInfo = { token, clientId: fingerprint, scopes: [], extra: { access } };
    return (await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_MESSAGE_BYTES }))
      ? await this.#sessions.handle(request, auth, access)
      : await this.#modern.fetch(request, { authInfo: auth });
  }

  /** Ends every session and stream, and what is asked of the platform. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#sessions.close(), this.#modern.close()]);
  }

  #server(access: Access): Server {
    const { baseUrl, logger } = this.#options;
    const clock = this.#clock;
    return buildServer({
      ...{ baseUrl, logger, access },
      // Each request brings its own: a server lives longer than one.
      tokenOf: ({ http }) => http?.authInfo?.token ?? "",
      clientOf: (apiKey) => new Client({ baseUrl, apiKey, clock }),
      closing: this.#closing.signal,
    });
  }
}

/** What is known of the token of a request that was admitted. */
function accessIn(auth: AuthInfo | undefined): Access {
  const access = auth?.extra?.access;
  if (access instanceof Access) return access;
  throw new Error("A request came through without its token.");
}
