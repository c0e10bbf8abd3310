import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Returns a free port on 127.0.0.1, outside the system's ephemeral range, so that no other program takes it while the
 * server is stopped.
 */
export async function reservePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, "127.0.0.1");
    const free = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!free) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
