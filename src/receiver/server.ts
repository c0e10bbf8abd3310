import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hasCode, ServiceBotError } from "../errors.ts";

/** A listening server. */
export interface Listening {
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Takes no new connections, lets running requests finish, and drops idle connections. */
  close(): Promise<void>;
}

/** A sender that takes longer for its request, in milliseconds, is cut off. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Longer than the pauses between deliveries of a busy platform, in milliseconds. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Listens on a host and port; port 0 takes a free one.
 *
 * @throws {ServiceBotError} ADDRESS_IN_USE
 */
export function listen(listener: RequestListener, host: string, port: number): Promise<Listening> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    listener,
  );
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      resolve({ url: urlOf(server, host), close: () => close(server) });
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function urlOf(server: Server, host: string): string {
  // A TCP server that listens has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function explain(error: Error, host: string, port: number): Error {
  if (!hasCode(error, "EADDRINUSE")) return error;
  return new ServiceBotError(
    "ADDRESS_IN_USE",
    `Something else listens on ${host}:${port}. Stop it, or set PORT to another port.`,
    { cause: error },
  );
}
