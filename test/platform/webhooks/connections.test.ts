import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, runPlatform } from "../support/platform.ts";
import { deliverNew } from "../support/receiver.ts";

interface Seen {
  readonly socket: Socket;
  /** Number of this request on its connection, starting at 1. */
  readonly nth: number;
  readonly signature: string;
}

/** Starts an endpoint that keeps connections open. `answer` can override how it responds. */
async function runEndpoint(answer: (seen: Seen, ...http: Parameters<RequestListener>) => void) {
  const counts = new Map<Socket, number>();
  const seen: Seen[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { socket, headers } = request;
    const nth = (counts.get(socket) ?? 0) + 1;
    counts.set(socket, nth);
    const one = { socket, nth, signature: String(headers["x-service-signature"]) };
    seen.push(one);
    request.resume().once("end", () => answer(one, request, response));
  });
  const { url } = await listenUntilEnd(server);
  return { url, seen, connections: () => counts.size };
}

const ok: Parameters<typeof runEndpoint>[0] = (_seen, _request, response) => void response.end();

async function deliverUntilReused(platform: Platform, seen: readonly Seen[]) {
  for (;;) {
    const [id = ""] = ids(act(platform, "follow"));
    const delivery = await deliveryOf(platform, id);
    if (seen.some(({ nth }) => nth > 1)) return delivery;
  }
}

test("the deliveries in a burst share connections", async () => {
  const platform = await runPlatform();
  const endpoint = await runEndpoint(ok);
  platform.control.saveWebhook({ url: endpoint.url });
  const all = ids(act(platform, "like", { count: 500 }));
  await deliveryOf(platform, all.at(-1) ?? "");
  expect(endpoint.seen).toHaveLength(10);
  // A second connection opens if the first response has a status, but its body has not been fully read.
  expect(endpoint.connections()).toBeLessThanOrEqual(2);
});

test("a dead persistent connection does not harm a healthy endpoint", async () => {
  const platform = await runPlatform();
  const endpoint = await runEndpoint(({ socket, nth }, _request, response) => {
    if (nth === 1) response.end();
    else socket.destroy();
  });
  platform.control.saveWebhook({ url: endpoint.url });
  const delivery = await deliverUntilReused(platform, endpoint.seen);
  expect(delivery).toMatchObject({ status: 200, attempt: 1 });
  expect(delivery).not.toHaveProperty("error");
  expect(platform.control.webhook.consecutiveFailures).toBe(0);
  // The retry sends the same bytes over a new connection.
  const [lost, again] = endpoint.seen.slice(-2);
  expect([lost?.nth, again?.nth]).toEqual([2, 1]);
  expect(again?.signature).toBe(lost?.signature);
});

test("a persistent connection that breaks after the first byte of a response is a failure", async () => {
  const platform = await runPlatform();
  const endpoint = await runEndpoint(({ socket, nth }, _request, response) => {
    if (nth === 1) response.end();
    else socket.end("HTTP/1.1 2");
  });
  platform.control.saveWebhook({ url: endpoint.url });
  const delivery = await deliverUntilReused(platform, endpoint.seen);
  expect(delivery).toMatchObject({ status: null, error: expect.any(String) });
  expect(platform.control.webhook.consecutiveFailures).toBe(1);
  expect(endpoint.seen.at(-1)?.nth).toBe(2);
});

test("a new connection that is cut is a failure, and the next attempt waits for its round", async () => {
  const platform = await runPlatform({ clock: new ManualClock() });
  const endpoint = await runEndpoint(({ socket }) => socket.destroy());
  platform.control.saveWebhook({ url: endpoint.url });
  expect(await deliverNew(platform)).toMatchObject({ status: null, error: "socket hang up" });
  expect(platform.control.webhook.consecutiveFailures).toBe(1);
  expect(endpoint.seen).toHaveLength(1);
});

test("an endpoint that switches to another protocol has failed, and the next round is sent", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock });
  const endpoint = await runEndpoint(({ socket }) => {
    socket.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
  });
  platform.control.saveWebhook({ url: endpoint.url });
  const [id = ""] = ids(act(platform, "follow"));
  const error = expect.stringContaining("closed before a response");
  expect(await deliveryOf(platform, id)).toMatchObject({ status: null, error });
  clock.advance(30_000);
  expect(await deliveryOf(platform, id, { attempt: 2 })).toMatchObject({ error });
});

test("both transmissions of one delivery share one timeout", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock, deliveryTimeoutMs: 5_000 });
  let dead = false;
  const endpoint = await runEndpoint(({ socket, nth }, _request, response) => {
    if (nth > 1) {
      dead = true;
      clock.advance(3_000);
      socket.destroy();
    } else if (dead) {
      clock.advance(2_000);
    } else {
      response.end();
    }
  });
  platform.control.saveWebhook({ url: endpoint.url });
  const delivery = await deliverUntilReused(platform, endpoint.seen);
  expect(delivery).toMatchObject({ status: null, ms: 5_000, error: "no response within 5000 ms" });
});

test("a dead connection is closed", async () => {
  const platform = await runPlatform();
  const endpoint = await runEndpoint(ok);
  platform.control.saveWebhook({ url: endpoint.url });
  await deliverNew(platform);
  const [first] = endpoint.seen;
  if (first === undefined) throw new Error("nothing arrived");
  if (!first.socket.destroyed) await once(first.socket, "close");
  expect(platform.control.webhook.enabled).toBe(true);
});
