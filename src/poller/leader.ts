import { type Clock, every, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { EVENT_LOG } from "../inbox/inbox.ts";
import type { Delivery, Shared } from "../inbox/shared.ts";
import { channels } from "../observe/channels.ts";
import { readSnapshot, type Snapshot, writeSnapshot } from "./snapshot.ts";

export type DeliveredEvents = Delivery["events"];

/** Period in which this instance reads the event log. */
export interface Term {
  /** Fences the cursor: writes from an earlier term have no effect. */
  readonly number: number;
  /** True if no instance can have read the log or accepted deliveries just before the term began. */
  readonly afterGap: boolean;
  /** Aborts when the term ends. */
  readonly signal: AbortSignal;
  /** Ends the term early, because the store has reported that it is over. */
  end(): void;
}

/** {@link Snapshot} of another instance. */
export interface SavedSnapshot extends Snapshot {
  /** Time when the snapshot was taken, in ms on this instance's clock. */
  readonly at: number;
}

export interface PeersOptions {
  readonly shared: Shared;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time after which a leader that has not renewed its lease is replaced, in ms. Default 15,000. */
  readonly leaseMs?: number | undefined;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

/** Duration of the lease, in ms. It is renewed three times within that time. */
const LEASE_MS = 15_000;

/** Delay before the next attempt if another instance became the leader first, in ms. */
const ELECTION_RETRY_MS = 100;

/** Minimum interval between two publications of deliveries, in ms. */
const PUBLISH_INTERVAL_MS = 250;

/**
 * Connects this instance to the others that share its inbox. Only one instance at a time reads the log: the holder of a
 * lease in the inbox. Failures are logged and retried, never thrown.
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

  /** Resolves when this instance becomes the log's reader, or to `undefined` once `stop` aborts. */
  async nextTerm(stop: AbortSignal): Promise<Term | undefined> {
    const { shared, clock, log } = this.#options;
    while (!stop.aborted) {
      // Subscribe before the request, so that no change is missed in between.
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

  /** Saves this poller's state for the other instances. Resolves to false if the term is over. */
  async save(term: number, snapshot: Snapshot): Promise<boolean> {
    const { shared, clock, log } = this.#options;
    const text = writeSnapshot(snapshot, clock.now());
    return await orElse(shared.writeNote(EVENT_LOG, term, text), true, (err) =>
      log.debug({ err }, "could not save the poller's state"),
    );
  }

  /**
   * Loads the state saved by the current or last leader. Resolves to `undefined` if there is none or it is unusable.
   */
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

  /** Calls `listener` when a new snapshot may exist. Returns an unsubscribe function. */
  onSaved(listener: () => void): () => void {
    return this.#options.shared.onChange((topic) => {
      if (topic === undefined || topic === "note") listener();
    });
  }

  /** Queues a delivery that this instance has stored. The leader receives it from {@link pollDeliveries}. */
  publishDelivery(events: DeliveredEvents): void {
    const { clock } = this.#options;
    this.#outbox.push({ at: clock.now(), events: events.map(({ id, type }) => ({ id, type })) });
    const publish = () => void this.#publish();
    this.#cancelPublishing ??= clock.timer(PUBLISH_INTERVAL_MS, publish, { background: true });
  }

  /** Returns the deliveries to all instances since the last call, including this instance, oldest first. */
  async pollDeliveries(): Promise<readonly Delivery[]> {
    await this.#publish();
    const { shared, log } = this.#options;
    return await orElse(shared.readDeliveries(), [], (err) =>
      log.debug({ err }, "could not read the deliveries of the other instances"),
    );
  }

  async resign(): Promise<void> {
    const term = this.#term;
    this.#term = undefined;
    term?.end();
    await this.#renewing;
    if (term === undefined) return;
    const { shared, log } = this.#options;
    await orElse(shared.resign(EVENT_LOG, term.number), undefined, (err) =>
      log.debug({ err }, "could not release the poller's lease; it will expire"),
    );
  }

  /** Ends the term, so that another instance can continue at once, and publishes the queued deliveries. */
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
    log.info({ term: number }, "this instance now reads the event log");
    this.#term = term;
    this.#renewing = this.#renew(term, onRenewed);
    return term;
  }

  /** Renews the lease. The new lease counts from the time before the request, because the response may be delayed. */
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

  /** Publishes the queued deliveries, one publication at a time. */
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

/**
 * Returns a fallback if the work fails. If the poller's state is missing, other instances merely consider the webhook
 * slow for a short time.
 */
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
