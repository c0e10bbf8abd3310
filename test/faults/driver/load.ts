import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../random.ts";
import type { Ledger } from "./ledger.ts";
import type { Behaviour } from "./texts.ts";

/** So many answers are owed at most: more would only wait. */
const MOST_OWED = 200;

const PEOPLE = 60;

/** Two answers with one text, pauses between and after the answers: all that makes it hard to be told apart. */
const mixture: readonly Behaviour[] = [
  ...(["answer", "answer", "answer", "answer", "answer"] as const),
  ...(["twins", "twins", "slow", "linger", "linger", "linger"] as const),
];

/** People who write to the bots as fast as these answer. */
export class Load {
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #pauseMs: number;
  #over = false;
  #writing: Promise<void> = Promise.resolve();

  /** @param pauseMs between two messages, in milliseconds */
  constructor(ledger: Ledger, random: Random, pauseMs: number) {
    this.#ledger = ledger;
    this.#pauseMs = pauseMs;
    this.#random = random;
  }

  start(): void {
    this.#writing = this.#write();
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (!this.#over) {
      const owed = 2 * this.#ledger.written.length - this.#ledger.said;
      if (owed < MOST_OWED) {
        const from = `person${this.#random.below(PEOPLE)}`;
        this.#ledger.write({ from, behaviour: this.#random.pick(mixture) });
      }
      await wait(this.#pauseMs);
    }
  }
}
