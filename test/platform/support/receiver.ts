import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { KnownEvent } from "../../faces/events.ts";
import { listenUntilEnd } from "../../support/listen.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly events: readonly KnownEvent[];
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  readonly batches: () => string[][];
}

export type Respond = (response: ServerResponse, nth: number) => void;

const ok: Respond = (response) => response.writeHead(200).end();

/** Responds with 200 once the list is used up. */
export function statuses(...list: readonly number[]): Respond {
  return (response, nth) => response.writeHead(list[nth - 1] ?? 200).end();
}

export async function runReceiver(respond: Respond = ok): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    // A GET is a health check, not a delivery.
    if (request.method === "GET") {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { events } = JSON.parse(body.toString()) as { events: KnownEvent[] };
    const { method = "", url: path = "", headers } = request;
    received.push({ method, path, headers, body, events });
    respond(response, received.length);
  });
  const { url } = await listenUntilEnd(server);
  return {
    url: `${url}/webhook`,
    received,
    batches: () => received.map(({ events }) => events.map((event) => event.id)),
  };
}
