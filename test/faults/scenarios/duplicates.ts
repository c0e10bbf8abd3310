import { first } from "../../support/first.ts";
import { checkRuns } from "../driver/checker.ts";
import { type Attack, onOneBot, type Stage, writers } from "../driver/fault.ts";
import { Poster } from "../driver/poster.ts";
import type { Scenario } from "../scenario.ts";

const COPIES = 20;

/** Number of events shuffled together, along with the copies held back from earlier slices. */
const SLICE = 250;

/** Fraction of the copies that arrive at least one slice later. */
const HELD_BACK = 0.1;

const MAX_BATCH = 20;
const CONNECTIONS = 8;

export const duplicates: Scenario = onOneBot({
  name: "duplicates x 20, shuffled, webhook and poll overlapping",
  counted: "slices of events",
  times: { small: 2, large: 200 },
  world: {
    deliveries: "driver",
    // Inject no faults, so that a handler that runs twice proves that its event was claimed twice.
    settings: { answers: 1, requestTimeoutMs: 10_000 },
    env: { AUDIT_INTERVAL_MS: "2000", POLL_INTERVAL_MS: "100", CONCURRENCY: "32" },
  },
  isBooted: true,
  begin: repeatDeliveries,
});

function repeatDeliveries(stage: Stage): Attack {
  const { world, random } = stage;
  const { ledger, platform } = world;
  const { url } = first(world.bots);
  const poster = new Poster(`${url}/webhook`, platform.webhookSecret, CONNECTIONS);
  const write = writers(stage, 200);
  const started = performance.now();
  const events: { readonly id: string; readonly body: string }[] = [];
  const count = { deliveries: 0, requests: 0, "deliveries per second": 0 };
  let position: string | undefined;
  let held: number[] = [];

  async function deliver(batch: Uint32Array): Promise<void> {
    const copies = [...batch].flatMap((index) => events[index] ?? []);
    const status = await poster.post(`{"events":[${copies.map(({ body }) => body).join(",")}]}`);
    count.requests += 1;
    count.deliveries += batch.length;
    if (status !== 200) world.violations.push(`a delivery got ${status}`);
    else for (const { id } of copies) ledger.acknowledge(id);
  }

  async function send(copies: readonly number[]): Promise<void> {
    const order = Uint32Array.from(copies);
    random.shuffle(order);
    let next = 0;
    const work = async () => {
      while (next < order.length) {
        const batch = order.subarray(next, next + 1 + random.below(MAX_BATCH));
        next += batch.length;
        await deliver(batch);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  }

  return {
    async once() {
      write(SLICE);
      const copies = held;
      held = [];
      for (const event of platform.control.events(position)) {
        position = event.id;
        const index = events.push({ id: event.id, body: JSON.stringify(event) }) - 1;
        for (let i = 0; i < COPIES; i++) (random.chance(HELD_BACK) ? held : copies).push(index);
      }
      await send(copies);
    },
    async end() {
      await send(held);
      const seconds = (performance.now() - started) / 1000;
      count["deliveries per second"] = Math.round(count.deliveries / seconds);
    },
    rules: () => ({ order: "any" }),
    judge({ written, stored }) {
      const runs = world.runs();
      const figures = {
        ...count,
        "events that came first by poll": stored.filter(({ source }) => source === "poll").length,
        "events that came late": runs.filter(({ late }) => late).length,
        runs: runs.length,
      };
      return { figures, violations: checkRuns(written, runs) };
    },
    close: () => poster.close(),
  };
}
