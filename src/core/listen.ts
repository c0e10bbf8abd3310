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
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, MAX_CHECK_INTERVAL_MS),
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    listener,
  );
  // A client may close its side of the connection once it has sent its request.
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections = limitConnections(server);
  const address = await listenOn(server, host, port, {
    names: `${set.host}, ${set.port}`,
    remedy: `Stop it, or set ${set.port} to another port.`,
  });
  return {
    url: `http://${urlHost(host)}:${address.port}`,
    close: (graceMs = CLOSE_GRACE_MS) => connections.close(graceMs),
  };
}

/** Maximum number of connections per server. Each costs about 20 KB before its first byte. */
const MAX_CONNECTIONS = 1_000;

/** Once this share of connections is in use, each new connection closes an older connection. */
const CROWDED_SHARE = 0.9;

const HEADERS_TIMEOUT_MS = 10_000;

interface Binding {
  /** The host and port settings, as error messages name them. */
  readonly names: string;
  /** Remedy if the port is in use. */
  readonly remedy: string;
}

/**
 * Binds a server, limits its connections, and resolves to its address. Port 0 selects a free port.
 *
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} CONFIG_INVALID if this machine does not have the address, or the process may not use it
 */
export function bind(
  server: Server,
  host: string,
  port: number,
  binding: Binding,
): Promise<AddressInfo> {
  limitConnections(server);
  return listenOn(server, host, port, binding);
}

function listenOn(
  server: Server,
  host: string,
  port: number,
  { names, remedy }: Binding,
): Promise<AddressInfo> {
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

/** An open connection, and its latest request. */
interface Connection {
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /** Number of the latest request on this server, or of the connection if it has no request yet. */
  latest: number;
}

/** Limits the number of a server's connections. On a crowded server, each new connection closes an older one. */
function limitConnections(server: Server): Connections {
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = Math.min(server.headersTimeout, HEADERS_TIMEOUT_MS);
  return new Connections(server);
}

/** The open connections of a server. */
class Connections {
  readonly #server: Server;
  readonly #open = new Map<Socket, Connection>();
  #events = 0;

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      if (this.#open.size >= server.maxConnections * CROWDED_SHARE) this.#closeSlowest();
      this.#events += 1;
      this.#open.set(socket, { request: undefined, response: undefined, latest: this.#events });
      socket.once("close", () => this.#open.delete(socket));
    });
    server.on("request", (request, response) => this.#note(request, response));
  }

  /**
   * Stops listening, and waits until running requests have finished, for at most `graceMs`. `server.close()` alone
   * would also wait for connections without a request.
   */
  close(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
      this.#server.close(() => {
        clearTimeout(cut);
        resolve();
      });
      for (const { response } of this.#open.values()) this.#closeAfter(response);
      this.#closeIfIdle();
    });
  }

  #note(request: IncomingMessage, response: ServerResponse): void {
    // A connection closed by the server may still have a buffered request.
    const connection = this.#open.get(request.socket);
    if (connection === undefined) return;
    this.#events += 1;
    connection.request = request;
    connection.response = response;
    connection.latest = this.#events;
    if (!this.#server.listening) this.#closeAfter(response);
  }

  #closeAfter(response: ServerResponse | undefined): void {
    response?.once("close", () => this.#closeIfIdle());
  }

  #closeIfIdle(): void {
    const isIdle = [...this.#open.values()].every(({ response }) => response?.closed !== false);
    if (isIdle) this.#server.closeAllConnections();
  }

  /**
   * Closes the oldest idle connection. If none is idle, closes the oldest connection whose request is incomplete,
   * because genuine requests arrive quickly.
   */
  #closeSlowest(): void {
    const waiting = [...this.#open].filter(([, connection]) => !isServed(connection));
    waiting.sort(([, a], [, b]) => a.latest - b.latest);
    const [slowest] = waiting.find(([, connection]) => isAnswered(connection)) ?? waiting[0] ?? [];
    if (slowest === undefined) return;
    this.#open.delete(slowest);
    slowest.destroy();
  }
}

function isServed({ request, response }: Connection): boolean {
  return request?.complete === true && response?.writableEnded === false;
}

function isAnswered({ request, response }: Connection): boolean {
  return request?.complete === true && response?.writableFinished === true;
}
