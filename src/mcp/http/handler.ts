import { Client } from "../../client/client.ts";
import { probeScope } from "../../client/scopes.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import { hostCheck } from "../../core/hosts.ts";
import type { Logger } from "../../core/logger.ts";
import type { Scope } from "../../core/scope.ts";
import { Access } from "../access.ts";
import {
  type AuthInfo,
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  type Server,
} from "../sdk.ts";
import { buildServer } from "../server.ts";
import { Admission } from "./admission.ts";
import { type Call, type NodeListener, nodeListener } from "./node.ts";
import { TokenRegistry } from "./token-registry.ts";

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

/** Open streams of clients that listen for changes (revision of 2026). Fewer than the calls at once. */
const MAX_STREAMS = 128;

/**
 * MCP over Streamable HTTP, without sessions: each request names its bot by its bearer token and gets a server of its
 * own. The token goes on to the platform, and none is kept.
 */
export class McpHttp {
  readonly #options: HttpOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #admission: Admission;
  readonly #handler: McpHttpHandler;

  constructor(options: HttpOptions) {
    this.#options = options;
    const { baseUrl, scopes, clock = systemClock, logger, allowHosts = [], anyHost } = options;
    this.#clock = clock;
    const signal = this.#closing.signal;
    const tokens = new TokenRegistry({
      clock,
      lookUp: (apiKey) => probeScope({ baseUrl, apiKey, signal }, "read"),
      newAccess: () => {
        const access = new Access({ given: scopes, clock });
        access.onChange(() => this.#handler.notify.toolsChanged());
        return access;
      },
    });
    this.#admission = new Admission({
      isOurs: anyHost === true ? () => true : hostCheck(allowHosts),
      checkToken: (token) => tokens.check(token),
    });
    this.#handler = createMcpHandler((context) => this.#server(context), {
      legacy: "stateless",
      maxSubscriptions: MAX_STREAMS,
      onerror: (error) => logger.debug({ err: error }, "a request has a problem"),
    });
  }

  /** The listener for a `node:http` server. */
  get listener(): NodeListener {
    return nodeListener({
      admit: (request) => this.#admission.admit(request),
      serve: (call) => this.#serve(call),
      closing: this.#closing.signal,
      onError: (error) => this.#options.logger.error({ err: error }, "a request failed"),
    });
  }

  /** Ends every call and stream, and the requests to the platform. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#handler.close();
  }

  async #serve({ request, message, admitted }: Call): Promise<Response> {
    const { token, fingerprint, access } = admitted;
    const authInfo: AuthInfo = { token, clientId: fingerprint, scopes: [], extra: { access } };
    return await this.#handler.fetch(request, { authInfo, parsedBody: message });
  }

  #server({ authInfo, era }: McpRequestContext): Server {
    const { baseUrl, logger } = this.#options;
    const clock = this.#clock;
    return buildServer({
      ...{ baseUrl, logger, access: accessIn(authInfo) },
      // Without a session, clients of 2025 have no stream on which a change could be announced.
      announcesChanges: era === "modern",
      tokenOf: ({ http }) => http?.authInfo?.token ?? "",
      clientOf: (apiKey) => new Client({ baseUrl, apiKey, clock }),
      closing: this.#closing.signal,
    });
  }
}

/** Extracts the access of an admitted request. */
function accessIn(auth: AuthInfo | undefined): Access {
  const access = auth?.extra?.access;
  if (access instanceof Access) return access;
  throw new Error("The request was served without its token.");
}
