import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ConfigError, hasCode, messageOf, ServiceBotError } from "../errors.ts";
import { urlHost } from "./addresses.ts";

export interface Listening {
  /** The server's URL, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /**
   * Stops accepting connections and closes idle connections. Running requests have `graceMs` milliseconds (default
   * 2,000) to finish.
   */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions {
  /** Time limit for receiving a request, in ms. A slower sender is disconnected. Default 15,000. */
  readonly requestTimeoutMs?: number;
  /** Names of the host and port settings, for error messages. Default: HOST and PORT. */
  readonly set?: { readonly host: string; readonly port: string };
}

/**
 * Time limit for a request, in ms. Longer than BODY_TIMEOUT_MS, so that the sender of a slow body receives a response.
 */
const REQUEST_TIMEOUT_MS = 15_000;

/**
 * Longest interval between checks for slow senders, in ms. Node's default, 30 s, would let them exceed the time limit
 * by far.
 */
const MAX_CHECK_INTERVAL_MS = 1_000;

/** Time for running requests to finish when the server closes, in ms. Storing a batch takes a few ms. */
const CLOSE_GRACE_MS = 2_000;

/** How long idle connections stay open, in ms. Longer than the pauses between a busy platform's deliveries. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Listens on a host and port. Port 0 selects a free port.
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
  // A static import would evaluate every export of node:http. One of them, WebSocket, loads a client that a bot with
  // DELIVERY=webhook may never need, at the cost of a tenth of the startup time and 5 MB. A static import would also
  // fail on an old Node before `requireNode` can report the version.
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
    // `server.close()` alone also waits for connections without a running request.
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

/** Maximum number of connections per server. Each costs about 20 KB before its first byte. */
const MAX_CONNECTIONS = 1_000;

/** Once this share of connections is in use, each new connection closes an older connection. */
const CROWDED_SHARE = 0.9;

const HEADERS_TIMEOUT_MS = 10_000;

/**
 * Binds a server and resolves to its address. Port 0 selects a free port.
 *
 * @param names the host and port settings, as error messages name them
 * @param remedy what to do if the port is in use
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} CONFIG_INVALID if this machine does not have the address, or the process may not use it
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
      const message = `Another program is already listening on ${host}:${port}. ${remedy}`;
      reject(new ServiceBotError("ADDRESS_IN_USE", message, { cause: error }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      // A listening TCP server has an address of this shape.
      resolve(server.address() as AddressInfo);
    });
  });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Limits the number of connections. When the server is crowded, each new connection closes an older connection. */
function boundConnections(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = Math.min(server.headersTimeout, HEADERS_TIMEOUT_MS);
  /** In order of their latest request, oldest first. `undefined` before the first request. */
  const connections = new Map<Socket, Exchange | undefined>();
  server.on("connection", (socket) => {
    if (connections.size >= server.maxConnections * CROWDED_SHARE) closeSlowest(connections);
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (request, response) => {
    // A connection closed by the server may still have a buffered request.
    if (connections.delete(request.socket)) connections.set(request.socket, { request, response });
  });
}

/**
 * Closes the oldest idle connection. If none is idle, closes the oldest connection whose request is incomplete, because
 * genuine requests arrive quickly.
 */
function closeSlowest(connections: Map<Socket, Exchange | undefined>): void {
  const waiting = [...connections].filter(([, exchange]) => !isServed(exchange));
  const [slowest] = waiting.find(([, exchange]) => isAnswered(exchange)) ?? waiting[0] ?? [];
  if (slowest === undefined) return;
  connections.delete(slowest);
  slowest.destroy();
}

function isServed(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded;
}

function isAnswered(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && exchange.response.writableFinished;
}
