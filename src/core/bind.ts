import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hasCode, ServiceBotError } from "../errors.ts";

/**
 * Lets a server listen; port 0 takes a free one. Resolves to the address it has got.
 *
 * @param remedy what to do when the port is taken
 * @throws {ServiceBotError} ADDRESS_IN_USE, and Node's own error for any other reason
 */
export function bind(
  server: Server,
  host: string,
  port: number,
  remedy: string,
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      if (!hasCode(error, "EADDRINUSE")) {
        reject(error);
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
