import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigError, hasCode, messageOf, ServiceBotError } from "../errors.ts";

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
