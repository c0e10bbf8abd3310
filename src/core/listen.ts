import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ConfigError, hasCode, messageOf, ServiceBotError } from "../errors.ts";
import { urlHost } from "./addresses.ts";

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

/** In ms. Longer than a body may take (BODY_TIMEOUT_MS), so that the sender gets that answer. */
const REQUEST_TIMEOUT_MS = 15_000;

/** In ms. Slow senders are closed at this interval, because Node's own 30 s would double their time. */
const MAX_CHECK_INTERVAL_MS = 1_000;

/** In ms. Time for a request under way when the server closes. Storing a batch takes a few. */
const CLOSE_GRACE_MS = 2_000;

/** In ms. Longer than the pauses between deliveries of a busy platform. */
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
  {
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    set = { host: "HOST", port: "PORT" },
  }: ListenOptions = {},
): Promise<Listening> {
  // An `import` of it reads every one of its exports, and WebSocket loads a client that a bot with DELIVERY=webhook may
  // never need: a tenth of its start, and 5 MB. At the top, it would fail on an old Node before `requireNode` refuses that.
  const { createServer } = process.getBuiltinModule("node:http");
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
    // `server.close()` alone also waits for connections on which no request is under way.
    close: (graceMs = CLOSE_GRACE_MS) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), running === 0 ? 0 : graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
      }),
  };
}

/** Connections of one server. Each costs some 20 KB before its first byte. */
const MAX_CONNECTIONS = 1_000;

/** Share of the connections in use from which on each new connection closes another one. */
const CROWDED_SHARE = 0.9;

/** In ms. How long the head of a request may take. */
const HEADERS_TIMEOUT_MS = 10_000;

/**
 * Lets a server listen; port 0 takes a free one. Resolves to the address it has got.
 *
 * @param names what host and port are set by
 * @param remedy what to do when the port is taken
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} CONFIG_INVALID when there is no such address here, or it may not be used
 */
export function bind(
  server: Server,
  host: string,
  port: number,
  { names, remedy }: { readonly names: string; readonly remedy: string },
): Promise<AddressInfo> {
  boundConnections(server);
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      if (!hasCode(error, "EADDRINUSE")) {
        const problem = `${names}: cannot listen on ${host}:${port} (${messageOf(error)})`;
        reject(new ConfigError([problem]));
        return;
      }
      const message = `Another program listens on ${host}:${port}. ${remedy}`;
      reject(new ServiceBotError("ADDRESS_IN_USE", message, { cause: error }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      // A TCP server that listens has an address of this shape.
      resolve(server.address() as AddressInfo);
    });
  });
}

/** The latest request of a connection, and its answer. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Bounds the connections of a server, and makes room for new ones before the bound is reached. */
function boundConnections(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = Math.min(server.headersTimeout, HEADERS_TIMEOUT_MS);
  /** In the order of the last requests, the oldest first. `undefined` before the first request. */
  const connections = new Map<Socket, Exchange | undefined>();
  server.on("connection", (socket) => {
    if (connections.size >= server.maxConnections * CROWDED_SHARE) closeSlowest(connections);
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (request, response) => {
    // A closed connection may still have had a request in its buffer.
    if (connections.delete(request.socket)) connections.set(request.socket, { request, response });
  });
}

/**
 * Closes the oldest connection that idles between two requests. If none idles, the oldest without a complete request
 * gives way, because a genuine request is complete within moments.
 */
function closeSlowest(connections: Map<Socket, Exchange | undefined>): void {
  const waiting = [...connections].filter(([, exchange]) => !isServed(exchange));
  const [slowest] = waiting.find(([, exchange]) => isAnswered(exchange)) ?? waiting[0] ?? [];
  if (slowest === undefined) return;
  connections.delete(slowest);
  slowest.destroy();
}

/** Returns whether a request is complete and its answer under way. */
function isServed(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded;
}

function isAnswered(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && exchange.response.writableFinished;
}
