import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { KnownEvent } from "../../faces/events.ts";
import type { ActInput, EntryOf, ListenOptions, Platform } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { ManualClock } from "./clock.ts";
import { act, deliveryOf, ids, runPlatform } from "./platform.ts";

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

export interface PlatformWithWebhook {
  readonly clock: ManualClock;
  readonly platform: Platform;
  readonly receiver: Receiver;
}

/**
 * Starts a platform, by default with a stopped clock. Its webhook's endpoint responds with `respond`, by default with
 * 200.
 */
export async function runWithWebhook(
  respond: Respond = ok,
  options: ListenOptions = {},
): Promise<PlatformWithWebhook> {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock, ...options });
  const receiver = await runReceiver(respond);
  platform.control.saveWebhook({ url: receiver.url });
  return { clock, platform, receiver };
}

/** Performs an action as ada, and waits for the first delivery of its last event. */
export async function deliverNew(
  platform: Platform,
  type: ActInput["type"] = "follow",
  more: Partial<ActInput> = {},
): Promise<EntryOf<"delivery"> & { readonly eventId: string }> {
  const eventId = ids(act(platform, type, more)).at(-1) ?? "";
  return { ...(await deliveryOf(platform, eventId)), eventId };
}
