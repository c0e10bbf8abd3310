import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** As much of the platform as takes replies and shows them again. */
export interface SmallPlatform {
  readonly url: string;
  /** Resolves once this many replies have come, from whichever process. */
  replies(count: number): Promise<void>;
  close(): void;
}

export async function startSmallPlatform(): Promise<SmallPlatform> {
  const conversations = new Map<string, unknown[]>();
  const arrivals = new EventEmitter();
  let sent = 0;
  const server = createServer(async (request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const messages = conversations.get(path) ?? [];
    conversations.set(path, messages);
    const { text: said } = request.method === "POST" ? JSON.parse(await text(request)) : {};
    const conversationId = path.split("/").at(-2);
    const createdAt = new Date().toISOString();
    const answer = { id: `m_${sent + 1}`, conversationId, createdAt };
    if (said !== undefined) {
      messages.unshift({ ...answer, text: said, fromBot: true, images: [] });
      sent += 1;
      arrivals.emit("reply");
    }
    response.writeHead(said === undefined ? 200 : 201, { "content-type": "application/json" });
    const page = { items: messages.slice(0, 50), nextCursor: null };
    response.end(JSON.stringify(said === undefined ? page : answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async replies(count) {
      while (sent < count) await once(arrivals, "reply");
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
