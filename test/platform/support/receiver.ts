import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { KnownEvent } from "../../faces/events.ts";
import { listenUntilEnd } from "../../support/listen.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw bytes. */
  readonly body: Buffer;
  readonly events: readonly KnownEvent[];
}

export interface Receiver {
  readonly url: string;
  /** Every delivery that reached the endpoint, in order. */
  readonly received: readonly Received[];
  /** The event ids of each delivery. */
  readonly batches: () => string[][];
}

/** Answers a delivery. `nth` counts the deliveries from 1 up. */
export type Respond = (response: ServerResponse, nth: number) => void;

const ok: Respond = (response) => response.writeHead(200).end();

/** Answers every delivery with the next of these statuses, and with 200 after the last. */
export function statuses(...list: readonly number[]): Respond {
  return (response, nth) => response.writeHead(list[nth - 1] ?? 200).end();
}

/** An endpoint on a free port that closes with the test. */
export async function runReceiver(respond: Respond = ok): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    // Somebody asks how the bot is, and that is no delivery.
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
