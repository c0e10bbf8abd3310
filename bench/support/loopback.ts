import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a server on a free port of 127.0.0.1. Resolves to its origin. */
export function listenOnLoopback(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      // The address of a listening TCP server always has this type.
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
