import { type Benchmark, FIRST_ROUND, type Stage, type Subject } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { Endpoint } from "../processes/endpoint.ts";
import type { LoadProcess } from "../processes/load.ts";
import type { LoadRequest } from "../support/frame.ts";
import { eventId } from "../support/message.ts";
import { act, type PlatformProcess, startPlatformProcess } from "../support/platform.ts";
import { perSecond } from "../support/rate.ts";

/** Events in one delivery. */
const BATCH = 50;
const MIB = 2 ** 20;

interface Parts {
  /** How many events are delivered. */
  readonly events: number;
  readonly platform: PlatformProcess;
  readonly endpoint: Child<Endpoint>;
  readonly load: Child<LoadProcess>;
  readonly url: string;
}

/** How fast the platform delivers, beside what the endpoint could take; and its memory. */
export const benchmark: Benchmark = {
  title: `10,000 events delivered to a fast endpoint, ${BATCH} at a time (--quick: 4,000)`,
  // The last round is compared with the first one.
  quickRounds: 2,
  async prepare({ quick }): Promise<Stage> {
    const endpoint = new Child<Endpoint>("processes/endpoint.ts");
    const load = new Child<LoadProcess>("processes/load.ts");
    const platform = await startPlatformProcess();
    const url = await endpoint.call("listen");
    await platform.control("PUT", "/webhook", { url });
    const events = quick ? 4_000 : 10_000;
    const parts: Parts = { events, platform, endpoint, load, url };
    // A process takes memory from the system until it has met its peak a few times.
    for (let round = 0; round < (quick ? 2 : 10); round += 1) await happening(parts);
    return {
      subjects: [() => backlog(parts), () => happening(parts), endpointLimits(parts)],
      figures: [
        { name: "the endpoint, one delivery after the other", sample: "serial", unit: "events/s" },
        { name: "the endpoint, a connection for each", sample: "fresh", unit: "events/s" },
        { name: "the endpoint, 16 connections", sample: "parallel", unit: "events/s" },
        { name: "the platform, a backlog", sample: "backlog", unit: "events/s", against: "serial" },
        {
          name: "the platform, while they happen",
          sample: "live",
          unit: "events/s",
          against: "serial",
        },
        { name: "heap after the round", sample: "heap", unit: "MiB", against: FIRST_ROUND },
        {
          name: "resident memory after the round",
          sample: "rss",
          unit: "MiB",
          against: FIRST_ROUND,
        },
      ],
      async close() {
        await platform.close();
        await Promise.all([endpoint.stop(), load.stop()]);
      },
    };
  },
};

/** Events pile up while the endpoint fails; timed is the working off. */
async function backlog({ events, platform, endpoint }: Parts) {
  await endpoint.call("reply", 500, "");
  await act(platform, { type: "dm.message", text: "hello" }, events);
  await endpoint.call("reply", 200, "");
  await endpoint.call("forget");
  const started = performance.now();
  // Saving tries what is pending at once.
  await platform.control("PUT", "/webhook", {});
  await endpoint.call("received", events);
  return { backlog: perSecond(events, performance.now() - started) };
}

/** Timed from the first act to the last event's arrival: the platform does both meanwhile. */
async function happening({ events, platform, endpoint }: Parts) {
  await endpoint.call("forget");
  const received = endpoint.call("received", events);
  const started = performance.now();
  await act(platform, { type: "dm.message", text: "hello" }, events);
  await received;
  const live = perSecond(events, performance.now() - started);
  const { heap, rss } = await platform.process.call("memory");
  return { live, heap: heap / MIB, rss: rss / MIB };
}

/** The same deliveries, made beforehand and sent by a client that does nothing else. */
function endpointLimits({ events, load, url }: Parts): Subject {
  const requests = [delivery()];
  const count = events / BATCH;
  // Few deliveries are over in a moment, so there are more of them here.
  const measure = async (times: number, how: { connections?: number; fresh?: boolean }) => {
    const ms = await load.call("run", { url, requests, count: count * times, ...how });
    return perSecond(events * times, ms);
  };
  return async () => ({
    serial: await measure(10, {}),
    fresh: await measure(5, { fresh: true }),
    parallel: await measure(20, { connections: 16 }),
  });
}

function delivery(): LoadRequest {
  const from = { userId: "u_2", username: "ada", name: "Ada" };
  const payload = { conversationId: "c_2", from, excerpt: "hello" };
  const events = Array.from({ length: BATCH }, (_, index) => ({
    id: eventId(index + 1),
    type: "dm.message",
    payload,
    createdAt: "2026-01-01T00:00:00.000Z",
  }));
  const headers = {
    "content-type": "application/json",
    "user-agent": "Service-Webhook/1",
    "x-service-signature": `t=1767225600,v1=${"0".repeat(64)}`,
    "x-service-event-count": String(BATCH),
  };
  return { method: "POST", path: "/", headers, body: JSON.stringify({ events }) };
}
