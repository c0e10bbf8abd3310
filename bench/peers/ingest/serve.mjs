import { createServer } from "node:http";
import { answer } from "../../harness/child.ts";

/** Serves one listener on a free port for a benchmark, which asks for its origin. */
export function serve(listener) {
  const server = createServer(listener);
  answer({
    listen: () =>
      new Promise((resolve) => {
        server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`));
      }),
  });
}
