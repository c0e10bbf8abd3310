import { type Clock, every, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { EVENT_LOG } from "../inbox/inbox.ts";
import type { Delivery, Shared } from "../inbox/shared.ts";
import { channels } from "../observe/channels.ts";
import { readSnapshot, type Snapshot, writeSnapshot } from "./snapshot.ts";

export type DeliveredEvents = Delivery["events"];

/** A period in which this instance reads the event log. */
export interface Term {
  /** Fences the cursor: a write of an earlier term moves nothing. */
  readonly number: number;
  /** True if no instance can have read the log, or taken deliveries, right before the term. */
  readonly afterGap: boolean;
  /** Aborts when the term is over. */
  readonly signal: AbortSignal;
  /** Ends the term, because the store has said that it is over. */
  end(): void;
}

/** A {@link Snapshot} of another instance. */
export interface SavedSnapshot extends Snapshot {
  /** When it was made, on this instance's clock. */
  readonly at: number;
}

export interface PeersOptions {
  readonly shared: Shared;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a leader is trusted without a sign of life, in milliseconds. Default 15,000. */
  readonly leaseMs?: number | undefined;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

/** In ms. The lease is renewed three times in that time. */
const LEASE_MS = 15_000;

/** In ms. Another instance was a moment faster. */
const ELECTION_RETRY_MS = 100;

/** In ms. Shortest interval between two publications of deliveries. */
const PUBLISH_INTERVAL_MS = 250;

/**
 * The instances that share an inbox. One at a time reads the log: the holder of a lease in the inbox. Failures are logged and
 * retried, and never thrown.
 */
export class SharedPeers {
  readonly #options: PeersOptions;
  readonly #leaseMs: number;
  #term: Term | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #outbox: { readonly at: number; readonly events: DeliveredEvents }[] = [];
  #publishing: Promise<void> = Promise.resolve();
  #cancelPublishing: (() => void) | undefined;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
  }

  /** Resolves when this instance is to read the log; to `undefined` once `stop` aborts. */
  async nextTerm(stop: AbortSignal): Promise<Term | undefined> {
    const { shared, clock, log } = this.#options;
    while (!stop.aborted) {
      // Subscribed before the question, so that no change is missed meanwhile.
      const changed = new AbortController();
      const unsubscribe = shared.onChange((topic) => {
        if (topic === undefined || topic === "leader") changed.abort();
      });
      try {
        const askedAt = clock.now();
        const answer = await shared.lead(EVENT_LOG, this.#leaseMs);
        if (answer.leads) return this.#begin(answer.term, answer.afterGap, askedAt);
        const leftMs = Math.max(ELECTION_RETRY_MS, answer.expiresInMs + 1);
        const either = AbortSignal.any([stop, changed.signal]);
        await sleep(clock, Math.min(leftMs, this.#leaseMs / 3), either);
      } catch (err) {
        log.debug({ err }, "leader election failed; retrying");
        await sleep(clock, this.#leaseMs / 3, stop);
      } finally {
        unsubscribe();
      }
    }
    return undefined;
  }

  /** Saves what this poller knows for the other instances. False if the term is over. */
  async save(term: number, snapshot: Snapshot): Promise<boolean> {
    const { shared, clock, log } = this.#options;
    const text = writeSnapshot(snapshot, clock.now());
    return await orElse(shared.writeNote(EVENT_LOG, term, text), true, (err) =>
      log.debug({ err }, "could not save the poller's state"),
    );
  }

  /** Loads what the present or the last leader saved; `undefined` without anything of use. */
  async load(): Promise<SavedSnapshot | undefined> {
    const { shared, clock, log } = this.#options;
    const note = await orElse(shared.readNote(EVENT_LOG), undefined, (err) =>
      log.debug({ err }, "could not load the poller's state"),
    );
    if (note === undefined) return undefined;
    const at = clock.now() - note.msAgo;
    const snapshot = readSnapshot(note.text, at);
    return snapshot && { ...snapshot, at };
  }

  /** Calls `listener` when there may be a new snapshot. Returns a function that unsubscribes. */
  onSaved(listener: () => void): () => void {
    return this.#options.shared.onChange((topic) => {
      if (topic === undefined || topic === "note") listener();
    });
  }

  /** Notes a delivery that this instance has stored, for {@link pollDeliveries} of the leader. */
  publishDelivery(events: DeliveredEvents): void {
    const { clock } = this.#options;
    this.#outbox.push({ at: clock.now(), events: events.map(({ id, type }) => ({ id, type })) });
    const publish = () => void this.#publish();
    this.#cancelPublishing ??= clock.timer(PUBLISH_INTERVAL_MS, publish, { background: true });
  }

  /** Returns the deliveries of all instances since the last call, this one's included, the oldest first. */
  async pollDeliveries(): Promise<readonly Delivery[]> {
    await this.#publish();
    const { shared, log } = this.#options;
    return await orElse(shared.readDeliveries(), [], (err) =>
      log.debug({ err }, "could not read the deliveries of the other instances"),
    );
  }

  /** Hands back the term. */
  async resign(): Promise<void> {
    const term = this.#term;
    this.#term = undefined;
    term?.end();
    await this.#renewing;
    if (term === undefined) return;
    const { shared, log } = this.#options;
    await orElse(shared.resign(EVENT_LOG, term.number), undefined, (err) =>
      log.debug({ err }, "could not hand back the poller's lease; it will expire"),
    );
  }

  /** Hands back the term, so that another instance goes on at once, and publishes what is left. */
  async close(): Promise<void> {
    await this.resign();
    await this.#publish();
  }

  #begin(number: number, afterGap: boolean, askedAt: number): Term {
    const { clock, log, bot } = this.#options;
    const over = new AbortController();
    const term = { number, afterGap, signal: over.signal, end: () => over.abort() };
    const expire = (from: number) => clock.timer(from + this.#leaseMs - clock.now(), term.end);
    let cancelExpiry = expire(askedAt);
    const onRenewed = (at: number) => {
      cancelExpiry();
      cancelExpiry = expire(at);
    };
    over.signal.addEventListener("abort", () => {
      cancelExpiry();
      if (this.#term !== term) return;
      channels["lease-lost"].publish({ bot, what: "log", term: number });
    });
    log.info({ term: number }, "this instance reads the event log");
    this.#term = term;
    this.#renewing = this.#renew(term, onRenewed);
    return term;
  }

  /** Renews the lease. It counts from before the question, because the answer may be long on its way. */
  #renew(term: Term, onRenewed: (at: number) => void): Promise<void> {
    const { shared, clock, log } = this.#options;
    const renew = async () => {
      const askedAt = clock.now();
      try {
        const answer = await shared.lead(EVENT_LOG, this.#leaseMs, term.number);
        if (!answer.leads) term.end();
        else if (!term.signal.aborted) onRenewed(askedAt);
      } catch (err) {
        log.debug({ err }, "could not renew the poller's lease; retrying");
      }
    };
    return every(clock, this.#leaseMs / 3, renew, term.signal);
  }

  /** Publishes the deliveries that were noted so far, one publication after the other. */
  #publish(): Promise<void> {
    this.#cancelPublishing?.();
    this.#cancelPublishing = undefined;
    this.#publishing = this.#publishing.then(async () => {
      const { shared, clock, log } = this.#options;
      const now = clock.now();
      const deliveries = this.#outbox.map(({ at, events }) => ({ msAgo: now - at, events }));
      this.#outbox = [];
      await orElse(shared.addDeliveries(deliveries), undefined, (err) =>
        log.debug({ err }, "could not publish deliveries to the other instances"),
      );
    });
    return this.#publishing;
  }
}

/** Missing state only makes the other instances think for a while that the webhook is slow. */
async function orElse<T>(
  work: Promise<T>,
  otherwise: T,
  onError: (error: unknown) => void,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    onError(error);
    return otherwise;
  }
}
