import { scaled } from "../driver/numbers.ts";
import { Poster } from "../driver/poster.ts";
import { checkRuns } from "../driver/runs.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { events: number }>> = {
  small: { events: 1_000 },
  large: { events: 50_000 },
};

/** How often each event is delivered. */
const COPIES = 20;

/** The events of one slice are mixed with each other, and with what the slices before held back. */
const SLICE = 500;

/** This share of the copies comes a slice or more later. */
const HELD_BACK = 0.1;

/** A delivery holds up to so many events. */
const MAX_BATCH = 20;

const CONNECTIONS = 8;

/** Every event twenty times, in any order and any company, while polling reads the same events. */
export const duplicates: Scenario = {
  name: "duplicates x 20, shuffled, webhook and poll overlapping",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const { events } = scaled(sizes[size], scale);
    const random = new Random(seed);
    const world = await World.start({
      deliveries: "driver",
      // Nothing goes wrong here, so that a second run could only be a second claim.
      settings: { answers: 1, requestTimeoutMs: 10_000 },
      recordRuns: true,
      env: { AUDIT_INTERVAL_MS: "2000", POLL_INTERVAL_MS: "100", CONCURRENCY: "32" },
    });
    try {
      const bot = await world.boot();
      const sender = new Repeats(world, random, `${await bot.ready}/webhook`);
      const started = performance.now();
      while (world.ledger.written.length < events) {
        await sender.slice(Math.min(SLICE, events - world.ledger.written.length));
        if (world.ledger.written.length % 10_000 === 0) progress(`${sender.delivered} delivered`);
      }
      await sender.rest();
      const seconds = (performance.now() - started) / 1000;
      const observed = await world.finish(bot, { order: "any" });
      const runs = world.runs();
      world.violations.push(...checkRuns(observed.written, runs));
      const figures = {
        events: observed.stored.length,
        deliveries: sender.delivered,
        requests: sender.requests,
        "deliveries per second": Math.round(sender.delivered / seconds),
        "events that came first by poll": world.inbox.countBySource("poll"),
        "events that came late": runs.filter(({ late }) => late).length,
        runs: runs.length,
        answers: world.ledger.said,
      };
      return { figures, violations: world.violations };
    } finally {
      await world.close();
    }
  },
};

/** Delivers the events of a world again and again. */
class Repeats {
  delivered = 0;
  requests = 0;
  readonly #world: World;
  readonly #random: Random;
  readonly #poster: Poster;
  #position: string | undefined;
  #bodies: string[] = [];
  #ids: string[] = [];
  #held: number[] = [];

  constructor(world: World, random: Random, url: string) {
    this.#world = world;
    this.#random = random;
    this.#poster = new Poster(url, world.platform.webhookSecret, CONNECTIONS);
  }

  /** Writes so many messages, and sends their copies, mixed. */
  async slice(count: number): Promise<void> {
    const { ledger, platform } = this.#world;
    for (let i = 0; i < count; i++) ledger.write({ from: `person${this.#random.below(200)}` });
    const copies = this.#held;
    this.#held = [];
    for (const event of platform.control.events(this.#position)) {
      this.#position = event.id;
      const index = this.#ids.push(event.id) - 1;
      this.#bodies.push(JSON.stringify(event));
      for (let i = 0; i < COPIES; i++) {
        (this.#random.chance(HELD_BACK) ? this.#held : copies).push(index);
      }
    }
    await this.#send(copies);
  }

  /** Sends what was held back. */
  async rest(): Promise<void> {
    const copies = this.#held;
    this.#held = [];
    await this.#send(copies);
    this.#poster.close();
  }

  async #send(copies: readonly number[]): Promise<void> {
    const order = Uint32Array.from(copies);
    this.#random.shuffle(order);
    let next = 0;
    const work = async () => {
      while (next < order.length) {
        const batch = order.subarray(next, next + 1 + this.#random.below(MAX_BATCH));
        next += batch.length;
        await this.#deliver(batch);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  }

  async #deliver(batch: Uint32Array): Promise<void> {
    const body = `{"events":[${Array.from(batch, (index) => this.#bodies[index]).join(",")}]}`;
    const status = await this.#poster.post(body);
    this.requests += 1;
    this.delivered += batch.length;
    if (status !== 200) {
      this.#world.violations.push(
        `a delivery of ${batch.length} events was answered with ${status}`,
      );
      return;
    }
    for (const index of batch) this.#world.ledger.acknowledge(this.#ids[index] ?? "");
  }
}
