import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { listenUntilEnd } from "../../support/listen.ts";
import { control } from "./http.ts";
import type { Event } from "./wire.ts";
import type { World } from "./world.ts";

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly events: readonly Event[];
  /** Parts of the X-Service-Signature header. Empty if the header is malformed. */
  readonly signature: { readonly t: string; readonly v1: string };
}

/** A status to respond with. `hang up` closes the connection instead, and `silence` sends no response. */
export type Reply = number | "hang up" | "silence";

export interface Endpoint {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** Resolves to the next unread delivery. Waits for one if necessary. */
  next(): Promise<Delivery>;
  ids(): string[];
}

/** Starts a local endpoint that sends these responses in turn, and then repeats the last one. */
export async function endpoint(replies: readonly Reply[] = [200]): Promise<Endpoint> {
  const deliveries: Delivery[] = [];
  let arrived = Promise.withResolvers<void>();
  let taken = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = "", url: path = "", headers } = request;
    const { events } = JSON.parse(body.toString()) as { events: Event[] };
    deliveries.push({ method, path, headers, body, events, signature: signatureIn(headers) });
    const reply = replies[deliveries.length - 1] ?? replies.at(-1) ?? 200;
    if (reply === "hang up") request.socket.destroy();
    // A client that follows redirects would send the delivery again.
    else if (reply !== "silence") response.writeHead(reply, { location: url.pathname }).end();
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  const { url: origin } = await listenUntilEnd(server);
  const url = new URL("/webhook?app=1", origin);
  return {
    url: url.href,
    deliveries,
    next: async () => {
      while (deliveries.length <= taken) await arrived.promise;
      const delivery = deliveries[taken];
      taken += 1;
      if (delivery === undefined) throw new Error("a delivery is gone");
      return delivery;
    },
    ids: () => deliveries.flatMap(({ events }) => events.map(({ id }) => id)),
  };
}

export interface Webhook extends Endpoint {
  readonly secret: string;
}

/** Points the bot's webhook, with a new secret, at an endpoint that sends these responses. */
export async function webhook(
  world: World,
  { types = [], replies }: { types?: readonly string[]; replies?: readonly Reply[] } = {},
): Promise<Webhook> {
  const made = await endpoint(replies);
  const { secret } = await newSecret(world);
  await saveWebhook(world, { url: made.url, types });
  return { ...made, secret };
}

export interface WebhookView {
  readonly url: string | null;
  readonly enabled: boolean;
  readonly consecutiveFailures: number;
  readonly disabledReason: string | null;
}

export function saveWebhook(world: World, change: Record<string, unknown>): Promise<WebhookView> {
  return control<WebhookView>(world, "PUT", "/webhook", change);
}

export function webhookOf(world: World): Promise<WebhookView> {
  return control<WebhookView>(world, "GET", "/webhook");
}

export function newSecret(world: World): Promise<{ readonly secret: string }> {
  return control<{ secret: string }>(world, "POST", "/webhook/secret");
}

interface Entry {
  readonly kind: string;
  readonly eventIds?: readonly string[];
  readonly attempt?: number;
}

export async function attempted(world: World, eventId: string, attempt = 1): Promise<void> {
  let after = world.startedAt;
  for (;;) {
    const { entries, last } = await control<{ entries: readonly Entry[]; last: number }>(
      world,
      "GET",
      `/timeline?after=${after}&waitMs=10000`,
    );
    const found = entries.some(
      (entry) =>
        entry.kind === "delivery" && entry.attempt === attempt && entry.eventIds?.includes(eventId),
    );
    if (found) return;
    after = last;
  }
}

/** Verifies a signature as section 5 requires, without the project's own code: over the raw bytes, in constant time. */
export function isSignedWith(secret: string, { body, signature }: Delivery): boolean {
  const digest = createHmac("sha256", secret).update(`${signature.t}.`).update(body).digest();
  const given = Buffer.from(signature.v1, "hex");
  return given.length === digest.length && timingSafeEqual(given, digest);
}

function signatureIn(headers: IncomingHttpHeaders): { t: string; v1: string } {
  const [, t = "", v1 = ""] =
    /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers["x-service-signature"])) ?? [];
  return { t, v1 };
}
