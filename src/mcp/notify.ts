import type { Access } from "./access.ts";
import type { Server } from "./sdk.ts";

/** Has a server tell its client when other tools can be used, for as long as they are connected. */
export function tellChanges(server: Server, access: Access): Server {
  const end = access.onChange(() => {
    // A client that is gone needs no news.
    server.sendToolListChanged().catch(() => undefined);
  });
  const { onclose } = server;
  server.onclose = () => {
    end();
    onclose?.();
  };
  return server;
}
