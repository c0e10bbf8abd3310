import { expect, test } from "vitest";
import { ApiError, NetworkError } from "../faces/client.ts";
import { RetryLater } from "../faces/errors.ts";
import type { Claim, Inbox } from "../faces/inbox.ts";
import type { Candidates, Effect, Intent } from "../faces/steps.ts";
import { mulberry32 } from "../support/mulberry32.ts";
import { IN_FLIGHT, LEASE, StepWorld } from "./step-world.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1e9);
const WORLDS = Number(process.env["WORLDS"] ?? 25);
const REQUEST_TIMEOUT_MS = 10_000;
/** In ms. The platform's times are in whole seconds. */
const CLOCK_SLACK_MS = 3_000;
const TEXT = "thank you";

/** Steps in different lanes that send one text to one place, in processes that are killed at random moments. */
class AlikeSteps {
  readonly #world = new StepWorld();
  readonly #random: () => number;
  readonly #waiting = new Map<Claim, number>();
  readonly #sentAt = new Map<string, number>();
  #isDead = { value: false };
  kills = 0;
  early = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Returns the number of messages that the platform has once every step has ended. */
  async run(steps: number): Promise<number> {
    const { clock, inbox } = this.#world;
    await this.#world.put(...Array.from({ length: steps }, (_, n) => `lane ${n}`));
    for (const claim of await inbox.claim(steps, 1_000 * LEASE)) this.#waiting.set(claim, 0);
    this.#start();
    while (this.#waiting.size > 0) {
      for (const [claim, dueAt] of this.#waiting) {
        if (dueAt <= clock.now() && this.#random() < 0.5) this.#begin(claim);
      }
      await clock.advance(Math.floor(this.#random() * 3_000));
      if (this.#random() < 0.1) this.#kill();
    }
    // A message may still arrive.
    await clock.advance(IN_FLIGHT);
    return this.#world.platform.size;
  }

  #start(): void {
    this.#isDead = { value: false };
    this.#world.process = this.#world.newProcess({ inbox: this.#inboxOf(this.#isDead) });
  }

  #kill(): void {
    this.kills += 1;
    this.#isDead.value = true;
    // The next process may begin any lane at once.
    for (const [claim, dueAt] of this.#waiting) {
      if (dueAt === Number.POSITIVE_INFINITY) this.#waiting.set(claim, 0);
    }
    this.#start();
  }

  #begin(claim: Claim): void {
    const isDead = this.#isDead;
    this.#waiting.set(claim, Number.POSITIVE_INFINITY);
    const run = this.#world.runOf(claim);
    const parts = { run: () => this.#call(), find: this.#find };
    run.run(this.#world.reply("comment/1", TEXT, parts)).then(
      () => isDead.value || this.#waiting.delete(claim),
      (error: unknown) => {
        if (isDead.value) return;
        const delayMs = error instanceof RetryLater ? error.delayMs : 100;
        this.#waiting.set(claim, this.#world.clock.now() + delayMs);
      },
    );
  }

  /** Finds the messages since the intent, as the search on the platform does. */
  readonly #find = async (intent: Intent): Promise<Candidates<string>> => {
    const found = await this.#world.find(intent);
    const earliest = intent.startedAt - CLOCK_SLACK_MS;
    const same = found.same.filter(({ ref }) => (this.#sentAt.get(ref) ?? 0) >= earliest);
    return { ...found, same };
  };

  /** A request that arrives soon, late or never, and whose response may be lost. */
  #call(): Promise<Effect<string>> {
    const { clock } = this.#world;
    const { promise, resolve, reject } = Promise.withResolvers<Effect<string>>();
    const kind = this.#random();
    const arrivesInMs = Math.floor(this.#random() * (kind < 0.4 ? 500 : IN_FLIGHT));
    const answers = this.#random() < 0.5 && arrivesInMs < REQUEST_TIMEOUT_MS;
    const fails = this.#random() < 0.3;
    const arrive = () => {
      const sent = this.#world.send(TEXT);
      this.#sentAt.set(sent.result, clock.now());
      if (!answers) return;
      if (fails) reject(new ApiError("failed after the effect", { status: 500 }));
      else resolve(sent);
    };
    if (kind < 0.8) clock.timer(arrivesInMs, arrive);
    const silence = new NetworkError("API_TIMEOUT", "no answer", { sent: true });
    clock.timer(REQUEST_TIMEOUT_MS, () => reject(silence));
    return promise;
  }

  /** Returns the inbox of one process. A dead process writes nothing. */
  #inboxOf(isDead: { readonly value: boolean }): Inbox {
    return new Proxy<Inbox>(this.#world.inbox, {
      get: (inbox, name) => {
        const value: unknown = Reflect.get(inbox, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          if (isDead.value) return new Promise(() => undefined);
          if (name === "reconcileStep" && given[4] === true) this.early += 1;
          return value.apply(inbox, given);
        };
      },
    });
  }
}

test(`however often they are killed, steps with one text send one message each (SEED=${SEED})`, async () => {
  const random = mulberry32(SEED);
  let kills = 0;
  let early = 0;
  for (let n = 0; n < WORLDS; n++) {
    const steps = 2 + Math.floor(random() * 3);
    const world = new AlikeSteps(random);
    expect(await world.run(steps), `world ${n}`).toBe(steps);
    kills += world.kills;
    early += world.early;
  }
  expect(Math.min(kills, early)).toBeGreaterThan(WORLDS / 10);
});
