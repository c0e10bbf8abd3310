import { createServer } from "node:http";
import { answer } from "../harness/child.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { eventId, messageEvent } from "../support/message.ts";

const LIMIT = 50;
const CONVERSATIONS = 200;

const PROFILE = Buffer.from(JSON.stringify({ username: "bot" }));

/** Pages by their `since` parameter. The first page has none. */
const pages = new Map<string | null, Buffer>();

/** Serves an event log from pages prepared in advance, so that a response costs almost nothing. */
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const isLog = pathname.endsWith("/events");
  const page = isLog ? (pages.get(searchParams.get("since")) ?? Buffer.alloc(0)) : PROFILE;
  const headers = { "content-type": "application/json", "content-length": page.byteLength };
  response.writeHead(page.byteLength === 0 ? 404 : 200, headers).end(page);
});

const handlers = {
  /** Creates a log of `count` full pages and an empty last page. Resolves to the server's origin. */
  listen: (count: number): Promise<string> => {
    let since: string | null = null;
    for (let page = 0; page < count; page += 1) {
      const events = Array.from({ length: LIMIT }, (_, nth) => eventNumber(page * LIMIT + nth + 1));
      const cursor = eventId((page + 1) * LIMIT);
      pages.set(since, Buffer.from(JSON.stringify({ events, cursor })));
      since = cursor;
    }
    pages.set(since, Buffer.from(JSON.stringify({ events: [], cursor: since })));
    return listenOnLoopback(server);
  },
};

export type Pages = typeof handlers;

answer(handlers);

function eventNumber(number: number): object {
  return messageEvent({ id: eventId(number), conversation: `c_${number % CONVERSATIONS}` });
}
