import { checkRuns, type Observed } from "../driver/checker.ts";
import { type Attack, onOneBot, type Stage } from "../driver/fault.ts";
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
  begin: async (stage) => new Duplicates(stage, (await stage.world.boot()).url),
});

class Duplicates implements Attack {
  readonly #stage: Stage;
  readonly #poster: Poster;
  readonly #started = performance.now();
  readonly #events: { readonly id: string; readonly body: string }[] = [];
  #position: string | undefined;
  #held: number[] = [];
  #delivered = 0;
  #requests = 0;
  #seconds = 0;

  constructor(stage: Stage, url: string) {
    this.#stage = stage;
    this.#poster = new Poster(`${url}/webhook`, stage.world.platform.webhookSecret, CONNECTIONS);
  }

  async once(): Promise<void> {
    const { world, random } = this.#stage;
    const { ledger, platform } = world;
    for (let i = 0; i < SLICE; i++) ledger.write({ from: `person${random.below(200)}` });
    const copies = this.#held;
    this.#held = [];
    for (const event of platform.control.events(this.#position)) {
      this.#position = event.id;
      const index = this.#events.push({ id: event.id, body: JSON.stringify(event) }) - 1;
      for (let i = 0; i < COPIES; i++) {
        (random.chance(HELD_BACK) ? this.#held : copies).push(index);
      }
    }
    await this.#send(copies);
  }

  async end(): Promise<void> {
    await this.#send(this.#held);
    this.#seconds = (performance.now() - this.#started) / 1000;
  }

  rules() {
    return { order: "any" } as const;
  }

  judge({ written, stored }: Observed) {
    const runs = this.#stage.world.runs();
    const figures = {
      deliveries: this.#delivered,
      requests: this.#requests,
      "deliveries per second": Math.round(this.#delivered / this.#seconds),
      "events that came first by poll": stored.filter(({ source }) => source === "poll").length,
      "events that came late": runs.filter(({ late }) => late).length,
      runs: runs.length,
    };
    return { figures, violations: checkRuns(written, runs) };
  }

  close(): void {
    this.#poster.close();
  }

  async #send(copies: readonly number[]): Promise<void> {
    const order = Uint32Array.from(copies);
    this.#stage.random.shuffle(order);
    let next = 0;
    const work = async () => {
      while (next < order.length) {
        const batch = order.subarray(next, next + 1 + this.#stage.random.below(MAX_BATCH));
        next += batch.length;
        await this.#deliver(batch);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  }

  async #deliver(batch: Uint32Array): Promise<void> {
    const { world } = this.#stage;
    const events = [...batch].flatMap((index) => this.#events[index] ?? []);
    const status = await this.#poster.post(
      `{"events":[${events.map(({ body }) => body).join(",")}]}`,
    );
    this.#requests += 1;
    this.#delivered += batch.length;
    if (status !== 200) world.violations.push(`a delivery got ${status}`);
    else for (const { id } of events) world.ledger.acknowledge(id);
  }
}
