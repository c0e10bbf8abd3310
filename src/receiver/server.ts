import type { RequestListener, Server } from "node:http";
import { urlHost } from "../core/addresses.ts";
import { bind } from "../core/bind.ts";

// An `import` of it reads every one of its exports, and WebSocket loads a client that a bot with DELIVERY=webhook may
// never need: a tenth of its start, and 5 MB.
const { createServer } = process.getBuiltinModule("node:http");

/** A listening server. */
export interface Listening {
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /**
   * Takes no new connections, drops those without a request, and lets running requests finish, for
   * `graceMs` milliseconds at most (default 2,000).
   */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions {
  /** In ms. A sender that takes longer for its request is cut off. Default 15,000. */
  readonly requestTimeoutMs?: number;
  /** Names of the settings of host and port, for errors. Default: HOST and PORT. */
  readonly set?: { readonly host: string; readonly port: string };
}

const OWN = { host: "HOST", port: "PORT" };

/** In ms. Longer than a body may take (BODY_TIMEOUT_MS), so that the sender gets that answer. */
const REQUEST_TIMEOUT_MS = 15_000;

/** In ms. Slow senders are closed at this interval, because Node's own 30 s would double their time. */
const MAX_CHECK_INTERVAL_MS = 1_000;

/** In ms. Time for a request under way when the server closes. Storing a batch takes a few. */
const CLOSE_GRACE_MS = 2_000;

/** Longer than the pauses between deliveries of a busy platform, in milliseconds. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Listens on a host and port; port 0 takes a free one.
 *
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} CONFIG_INVALID
 */
export async function listen(
  listener: RequestListener,
  host: string,
  port: number,
  { requestTimeoutMs = REQUEST_TIMEOUT_MS, set = OWN }: ListenOptions = {},
): Promise<Listening> {
  let running = 0;
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, MAX_CHECK_INTERVAL_MS),
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      running += 1;
      response.once("close", () => {
        running -= 1;
        if (running === 0 && !server.listening) server.closeAllConnections();
      });
      listener(request, response);
    },
  );
  const address = await bind(server, host, port, {
    names: `${set.host}, ${set.port}`,
    remedy: `Stop it, or set ${set.port} to another port.`,
  });
  return {
    url: `http://${urlHost(host)}:${address.port}`,
    close: (graceMs = CLOSE_GRACE_MS) => closeServer(server, running === 0 ? 0 : graceMs),
  };
}

/**
 * `server.close()` alone waits for every connection, be it one that is kept for a request that may
 * never come, or one on which nothing was ever asked.
 */
function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
