import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Lets a server listen on a free port of the loopback address. Resolves to its origin. */
export function listenOnLoopback(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      // A listening TCP server's address always has this shape.
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
