import { type Clock, every, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { EVENT_LOG } from "../inbox/inbox.ts";
import type { Shared } from "../inbox/shared.ts";
import { channels } from "../observe/channels.ts";

/** A time in which this instance reads the event log. */
export interface Term {
  /** What the cursor is moved with; undefined where there is one instance only. */
  readonly number: number | undefined;
  /** True when nobody can have read the log, or taken deliveries, right before it. */
  readonly afterGap: boolean;
  /** Aborts when it is over. */
  readonly signal: AbortSignal;
  /** The store has said that it is over. */
  end(): void;
}

/** Decides who reads the event log. */
export interface Leadership {
  /** Resolves when this instance is to read the log; to undefined once `stop` aborts. */
  next(stop: AbortSignal): Promise<Term | undefined>;
  /** Lets others go on at once. */
  resign(): Promise<void>;
}

/** Of a bot that is one process. */
export const undisputed: Leadership = {
  async next(stop) {
    const over = new AbortController();
    if (stop.aborted) return undefined;
    return { number: undefined, afterGap: true, signal: over.signal, end: () => over.abort() };
  },
  resign: () => Promise.resolve(),
};

export interface ElectionOptions {
  readonly shared: Shared;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a leader is trusted without a sign of life, in milliseconds. Default 15,000. */
  readonly leaseMs?: number | undefined;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

/** How long the lease of the poller holds, in milliseconds. It is renewed three times in that time. */
const POLLER_LEASE_MS = 15_000;

/** When somebody else was a moment faster, it is looked again after this, in milliseconds. */
const SOON_MS = 100;

/** One instance at a time reads the log: the one that holds the lease in the inbox. */
export class Election implements Leadership {
  readonly #options: ElectionOptions;
  readonly #leaseMs: number;
  #term: Term | undefined;
  #renewing: Promise<void> = Promise.resolve();

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? POLLER_LEASE_MS;
  }

  async next(stop: AbortSignal): Promise<Term | undefined> {
    const { shared, clock, log } = this.#options;
    while (!stop.aborted) {
      // Listened to before the question: what is told meanwhile must not be missed.
      const news = new AbortController();
      const unsubscribe = shared.onChange((topic) => {
        if (topic === undefined || topic === "leader") news.abort();
      });
      try {
        const asked = clock.now();
        const answer = await shared.leases.lead(EVENT_LOG, this.#leaseMs);
        if (answer.leads) return this.#begin(answer.term, answer.afterGap, asked);
        const left = Math.max(SOON_MS, answer.expiresInMs + 1);
        await this.#wait(Math.min(left, this.#leaseMs / 3), AbortSignal.any([stop, news.signal]));
      } catch (err) {
        log.debug({ err }, "who reads the event log cannot be found out");
        await this.#wait(this.#leaseMs / 3, stop);
      } finally {
        unsubscribe();
      }
    }
    return undefined;
  }

  async resign(): Promise<void> {
    const term = this.#term;
    this.#term = undefined;
    term?.end();
    await this.#renewing;
    if (term?.number === undefined) return;
    const { shared, log } = this.#options;
    try {
      await shared.leases.resign(EVENT_LOG, term.number);
    } catch (err) {
      log.debug({ err }, "the lease of the poller runs out by itself");
    }
  }

  #begin(number: number, afterGap: boolean, asked: number): Term {
    const { clock, log, bot } = this.#options;
    const over = new AbortController();
    const term = { number, afterGap, signal: over.signal, end: () => over.abort() };
    let distrust = clock.timer(asked + this.#leaseMs - clock.now(), term.end);
    const renewed = (at: number) => {
      distrust();
      distrust = clock.timer(at + this.#leaseMs - clock.now(), term.end);
    };
    over.signal.addEventListener("abort", () => {
      distrust();
      if (this.#term !== term) return;
      channels["lease-lost"].publish({ bot, what: "log", term: number });
    });
    log.info({ term: number }, "this instance reads the event log");
    this.#term = term;
    this.#renewing = this.#renew(term, number, renewed);
    return term;
  }

  /** Trust counts from before the question: the answer may have been long on its way. */
  #renew(term: Term, number: number, renewed: (at: number) => void): Promise<void> {
    const { shared, clock, log } = this.#options;
    const renew = async () => {
      const asked = clock.now();
      try {
        const answer = await shared.leases.lead(EVENT_LOG, this.#leaseMs, number);
        if (!answer.leads) term.end();
        else if (!term.signal.aborted) renewed(asked);
      } catch (err) {
        log.debug({ err }, "the lease of the poller cannot be renewed");
      }
    };
    return every(clock, this.#leaseMs / 3, renew, term.signal);
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(this.#options.clock, ms, signal);
  }
}
