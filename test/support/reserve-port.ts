import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port on 127.0.0.1 that nobody has, and that the system gives to nobody who asks for any port: it has
 * to stay free while the server is stopped.
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
