import { setTimeout as wait } from "node:timers/promises";
import type { Behaviour } from "../bot/behaviours.ts";
import type { Random } from "../random.ts";
import type { Ledger } from "./ledger.ts";

/** Enough to keep the bots busy. Further messages would only queue. */
const MAX_OWED = 200;

/** Identical replies, and pauses around replies, are the hardest to distinguish after a crash. */
const mixture: readonly Behaviour[] = [
  ...(["answer", "answer", "answer", "answer", "answer"] as const),
  ...(["twins", "twins", "slow", "linger", "linger", "linger"] as const),
];

export interface LoadOptions {
  readonly ledger: Ledger;
  readonly random: Random;
  readonly pauseMs: () => number;
  /** Number of users. Default: 60. */
  readonly people?: number;
  readonly behaviours?: readonly Behaviour[];
}

export class Load {
  readonly #stopping = new AbortController();
  readonly #writing: Promise<void>;

  constructor(options: LoadOptions) {
    this.#writing = this.#write(options);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
  }

  async #write({ ledger, random, pauseMs, people = 60, behaviours = mixture }: LoadOptions) {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (ledger.due - ledger.said < MAX_OWED) {
        const behaviour = random.pick(behaviours);
        ledger.write({ from: `person${random.below(people)}`, behaviour });
      }
      await wait(pauseMs(), undefined, { signal }).catch(() => undefined);
    }
  }
}
