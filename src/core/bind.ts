import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigError, hasCode, messageOf, ServiceBotError } from "../errors.ts";

/** Connections of one server. Each costs some 20 KB before its first byte. */
const MAX_CONNECTIONS = 1_000;

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
      const message = `Something else listens on ${host}:${port}. ${remedy}`;
      reject(new ServiceBotError("ADDRESS_IN_USE", message, { cause: error }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      // A TCP server that listens has an address of this shape.
      resolve(server.address() as AddressInfo);
    });
  });
}

/** Makes room for new connections by closing those that idle between two requests. */
function boundConnections(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = Math.min(server.headersTimeout, HEADERS_TIMEOUT_MS);
  server.on("drop", () => server.closeIdleConnections());
}
