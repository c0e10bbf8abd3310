import { createServer } from "node:http";
import { answer } from "../../harness/child.ts";
import { listenOnLoopback } from "../../support/loopback.ts";

/**
 * Serves a request listener on a free port. The benchmark calls `listen` to get the origin.
 *
 * @param own further functions that the benchmark can call
 */
export function serve(listener, own = {}) {
  const server = createServer(listener);
  answer({
    listen: () => listenOnLoopback(server),
    ...own,
  });
}
