import { createServer } from "node:http";
import { answer } from "../harness/child.ts";
import { listenOnLoopback } from "../support/loopback.ts";

/** Response to every GET. Serves as a profile and as an empty event log. */
const NOTHING = JSON.stringify({
  username: "bot",
  ...{ events: [], cursor: "evt_000000000001" },
});

const REPLY = /^\/api\/v1\/dm\/conversations\/([^/]+)\/messages$/;

let messages = 0;
let awaited: { readonly count: number; done(): void } | undefined;

/**
 * The cheapest possible platform on node:http. It accepts and counts messages, and responds as platform-api-v1.md
 * requires.
 */
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const [, conversation] = REPLY.exec(request.url ?? "") ?? [];
    const isMessage = request.method === "POST" && conversation !== undefined;
    if (isMessage) messages += 1;
    const createdAt = new Date().toISOString();
    const body = isMessage
      ? JSON.stringify({ id: `m_${messages}`, conversationId: conversation, createdAt })
      : NOTHING;
    response.writeHead(isMessage ? 201 : 200, {
      "content-type": "application/json",
      "content-length": body.length,
    });
    response.end(body);
    if (awaited !== undefined && messages >= awaited.count) awaited.done();
  });
});

const handlers = {
  listen: (): Promise<string> => listenOnLoopback(server),
  /** Waits for `count` messages. Resolves to the number received, and resets it. */
  received: async (count: number): Promise<number> => {
    await new Promise<void>((resolve) => {
      awaited = { count, done: resolve };
      if (messages >= count) resolve();
    });
    const all = messages;
    messages = 0;
    awaited = undefined;
    return all;
  },
};

export type BarePlatform = typeof handlers;

answer(handlers);
