import { ApiError, outageOf } from "../client/errors.ts";
import { backoff, type Clock, type Random, sleep } from "../core/clock.ts";
import { timed } from "../core/loop-watch.ts";
import { showError } from "../core/safe-text.ts";
import { hasCode, ServiceBotError } from "../errors.ts";
import { channels } from "../observe/channels.ts";
import type { DeliveredEvents, SavedSnapshot, SharedPeers, Term } from "./leader.ts";
import { type FirstStart, LogReader, type LogReaderOptions } from "./log-reader.ts";
import {
  type FoundEvent,
  initialMode,
  type Mode,
  type ModeState,
  nextDeadline,
  type Observation,
  observe,
} from "./mode.ts";
import type { PollerStatus } from "./snapshot.ts";

export interface PollerOptions extends Omit<LogReaderOptions, "term" | "firstStart"> {
  readonly clock: Clock;
  /** `auto` switches between auditing and polling. `polling` always polls. */
  readonly delivery: "auto" | "polling";
  /** Interval between rounds while polling, in ms. */
  readonly pollIntervalMs: number;
  /** Interval between rounds while auditing, in ms. */
  readonly auditIntervalMs: number;
  /** Time that the webhook may take to deliver an event, in ms. */
  readonly silenceMs: number;
  /** Event types that have ever arrived by webhook. */
  readonly webhookTypes: ReadonlySet<string>;
  /** Source of the retry jitter. Default `Math.random`. */
  readonly random?: Random;
  readonly onSwitch?: (mode: Mode, reason: string) => unknown;
  /** The bot's other instances. Absent if the inbox serves only one process. */
  readonly peers?: SharedPeers | undefined;
  /**
   * True while the log returns events created after the restored backup. Most of them were acknowledged before the
   * restore and will not be delivered again, so they do not show whether the webhook works.
   */
  readonly isCatchingUp?: (() => boolean) | undefined;
}

/**
 * Period in which this instance reads the log: the lifetime of the process, or a term if there are several instances.
 */
interface Reading {
  readonly reader: LogReader;
  readonly signal: AbortSignal;
  /** Absent if there is only one instance. */
  readonly term: Term | undefined;
  /** Time on the bot's clock. Deliveries before it are already in the state. */
  readonly knownUntil: number;
  /** Time of the last audit, on the bot's clock. */
  auditedAt: number;
}

/** Longest pause after consecutive failures, in ms. Also the pause while the token lacks a scope. */
const MAX_PAUSE_MS = 60_000;

/**
 * Rounding error of the platform's time, in ms. The time comes from a header in whole seconds, so the actual time may
 * be this much later.
 */
const DATE_STEP_MS = 1_000;

/**
 * Reads the event log repeatedly, and decides how often. The webhook is a hint, and the log is the truth. One instance
 * reads the log, and the others follow its state.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #firstStart: FirstStart = {};
  #startedAt: number;
  #status: Omit<PollerStatus, "mode">;
  /** Number of consecutive failed rounds. */
  #failures = 0;
  readonly #stopping = new AbortController();
  #state: ModeState;
  /** `undefined` while another instance reads the log. */
  #reading: Reading | undefined;
  /** Ids of events that the webhook delivered during a round. */
  #deliveredMeanwhile: Set<string> | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#status = {
      modeSince: this.#startedAt,
      modeReason: options.delivery === "polling" ? "DELIVERY=polling" : "the bot has started",
      cursor: undefined,
      lastPollAt: undefined,
      lastPollError: undefined,
      readToEndAt: undefined,
    };
    this.#state = this.#asConfigured(initialMode(options.webhookTypes));
  }

  get mode(): Mode {
    return this.#state.mode;
  }

  get leads(): boolean {
    return this.#reading !== undefined;
  }

  get status(): PollerStatus {
    const cursor = this.#reading === undefined ? this.#status.cursor : this.#reading.reader.cursor;
    return { ...this.#status, mode: this.mode, cursor };
  }

  start(): void {
    const { peers, clock } = this.#options;
    this.#startedAt = clock.now();
    this.#loop =
      peers === undefined
        ? this.#read({ signal: this.#stopping.signal, knownUntil: this.#startedAt })
        : this.#readInTurn(peers);
  }

  /** Stops reading, so that another instance can continue at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#options.peers?.close();
  }

  /** Must be called for each stored webhook delivery. */
  delivered(events: DeliveredEvents): void {
    const { delivery, peers, platformClock } = this.#options;
    if (delivery === "polling") return;
    if (peers === undefined) this.#observeDelivery(events, platformClock.now());
    else peers.publishDelivery(events);
  }

  /** Reads the log during each of this instance's terms, and otherwise follows the leader. */
  async #readInTurn(peers: SharedPeers): Promise<void> {
    const { signal: stop } = this.#stopping;
    const unsubscribe = peers.onSaved(() => {
      if (this.#reading === undefined) void this.#follow(peers);
    });
    for (;;) {
      const term = await peers.nextTerm(stop);
      if (term === undefined) return unsubscribe();
      const known = term.afterGap ? undefined : await this.#follow(peers);
      const signal = AbortSignal.any([stop, term.signal]);
      await this.#read({ signal, term, knownUntil: known?.at ?? this.#startedAt });
    }
  }

  /** Adopts the state of the current or last leader. */
  async #follow(peers: SharedPeers): Promise<SavedSnapshot | undefined> {
    const saved = await peers.load();
    if (saved === undefined || this.#reading !== undefined) return undefined;
    this.#state = this.#asConfigured(saved.state);
    this.#status = saved.status;
    return saved;
  }

  async #read({
    signal,
    term,
    knownUntil,
  }: Pick<Reading, "signal" | "knownUntil"> & { readonly term?: Term }): Promise<void> {
    const purpose = () => (this.mode === "polling" ? "poll" : "audit");
    const firstStart = this.#firstStart;
    const reader = new LogReader({ ...this.#options, firstStart, term: term?.number }, purpose);
    const auditedAt = Number.NEGATIVE_INFINITY;
    const reading: Reading = { reader, signal, term, knownUntil, auditedAt };
    this.#reading = reading;
    let isOpen = false;
    // True during the first round, if reading continues from a stored cursor.
    let isResumed = false;
    while (!signal.aborted) {
      try {
        if (!isOpen) isResumed = (await reader.open(signal)) && term?.afterGap !== false;
        isOpen = true;
        await this.#round(reading, isResumed);
        isResumed = false;
        await this.#rest(reading);
      } catch (error) {
        // The store has reported that another instance now reads the log.
        if (hasCode(error, "LEASE_LOST")) term?.end();
        if (signal.aborted) break;
        const retryInMs = this.#fail(error);
        await this.#save(reading);
        await sleep(this.#options.clock, retryInMs, signal);
      }
    }
    this.#status = { ...this.#status, cursor: reader.cursor };
    this.#reading = undefined;
  }

  /**
   * Reads the log to its end, and decides from the missing events whether the webhook works.
   *
   * @param isResumed true in the first round after a start that continues from a stored cursor
   */
  async #round(reading: Reading, isResumed: boolean): Promise<void> {
    const { clock, auditIntervalMs, platformClock, log, isCatchingUp } = this.#options;
    const { reader, signal } = reading;
    const judges = isCatchingUp?.() !== true;
    const startedAt = clock.now();
    const isDue = startedAt - reading.auditedAt >= auditIntervalMs;
    const isAudit = isDue || this.mode === "auditing";
    const delivered = new Set<string>();
    this.#deliveredMeanwhile = delivered;
    const read: FoundEvent[] = [];
    let partial = true;
    try {
      await reader.read(isAudit ? "cursor" : "head", signal, read);
      partial = false;
      if (isAudit) reading.auditedAt = startedAt;
      this.#succeed(startedAt, reader.atEnd);
    } finally {
      await this.#pollDeliveries(reading);
      this.#deliveredMeanwhile = undefined;
      // An event that the webhook delivered during the read is not missing.
      const found = read.filter(({ id }) => !delivered.has(id));
      if (found.length > 0) log.info({ found: found.length, mode: this.mode }, "polled");
      // A partial read counts too, because no later read finds its events again.
      if (!signal.aborted && judges && (!partial || found.length > 0)) {
        const now = platformClock.now();
        const offset = now - clock.now() + DATE_STEP_MS;
        const resumedAt = isResumed ? this.#startedAt + offset : undefined;
        this.#observe({ kind: "round", now, found, resumedAt, partial });
      }
    }
    await this.#save(reading);
  }

  /** @param startedAt time when the round started */
  #succeed(startedAt: number, atEnd: boolean): void {
    const { clock, bot } = this.#options;
    this.#failures = 0;
    this.#status = {
      ...this.#status,
      lastPollAt: clock.now(),
      lastPollError: undefined,
      ...(atEnd && { readToEndAt: startedAt }),
    };
    channels.poll.publish({ bot, code: undefined, atEnd });
  }

  /** Publishes that a round failed. Returns the pause before the next round, in ms. */
  #fail(error: unknown): number {
    const { clock, bot } = this.#options;
    const code = error instanceof ServiceBotError ? error.code : "INTERNAL";
    const status = error instanceof ApiError ? error.status : undefined;
    this.#failures += 1;
    this.#status = { ...this.#status, lastPollAt: clock.now(), lastPollError: { code, status } };
    // A 403 that refuses the whole token does not count as a missing scope. The client has logged it, and it counts as
    // an outage.
    const lacksScope = error instanceof ApiError && status === 403 && !error.refusesToken;
    const retryInMs = lacksScope ? MAX_PAUSE_MS : this.#retryInMs(error);
    const meanwhile = lacksScope ? this.#meanwhile() : undefined;
    channels.poll.publish({ bot, code, error, retryInMs, meanwhile });
    return retryInMs;
  }

  #retryInMs(error: unknown): number {
    const { pollIntervalMs, random } = this.#options;
    const policy = { baseMs: pollIntervalMs, maxMs: MAX_PAUSE_MS, factor: 2 };
    const requestedMs = outageOf(error)?.retryAfterMs ?? 0;
    return Math.max(requestedMs, pollIntervalMs, backoff(policy, this.#failures, random));
  }

  /** Describes how the bot continues without the log. */
  #meanwhile(): string {
    if (this.#options.delivery === "polling") return "no events arrive until then";
    return this.mode === "auditing"
      ? "webhook deliveries continue, but lost deliveries are not detected"
      : "until then only webhook deliveries arrive";
  }

  /** Waits for the next round, or until an event becomes overdue. */
  async #rest(reading: Reading): Promise<void> {
    const { clock, pollIntervalMs, auditIntervalMs, silenceMs, platformClock } = this.#options;
    const { reader, signal } = reading;
    const isPolling = this.mode === "polling" && reader.atEnd;
    const until = clock.now() + (isPolling ? pollIntervalMs : auditIntervalMs);
    while (!signal.aborted && clock.now() < until) {
      const deadline = nextDeadline(this.#state, silenceMs);
      const ms = deadline === undefined ? Infinity : deadline - platformClock.now() + 1;
      await sleep(clock, Math.max(0, Math.min(ms, until - clock.now())), signal);
      if (deadline !== undefined) await this.#pollDeliveries(reading);
      const before = this.mode;
      this.#observe({ kind: "tick", now: platformClock.now() });
      if (this.mode !== before) return await this.#save(reading);
    }
  }

  /** Observes the deliveries to all instances. A single instance observes each delivery on arrival. */
  async #pollDeliveries({ knownUntil }: Reading): Promise<void> {
    const { peers, platformClock, clock } = this.#options;
    if (peers === undefined) return;
    for (const { msAgo, events } of await peers.pollDeliveries()) {
      if (clock.now() - msAgo >= knownUntil)
        this.#observeDelivery(events, platformClock.now() - msAgo);
    }
  }

  async #save({ term }: Reading): Promise<void> {
    if (term === undefined) return;
    const snapshot = { state: this.#state, status: this.status };
    if ((await this.#options.peers?.save(term.number, snapshot)) === false) term.end();
  }

  #observeDelivery(events: DeliveredEvents, now: number): void {
    for (const { id } of events) this.#deliveredMeanwhile?.add(id);
    this.#observe({ kind: "delivery", now, events });
  }

  #observe(observation: Observation): void {
    const { silenceMs, log, onSwitch, bot, clock } = this.#options;
    const { state, switched } = observe(this.#state, observation, silenceMs);
    this.#state = state;
    if (switched === undefined) return;
    const { to, reason } = switched;
    this.#status = { ...this.#status, modeSince: clock.now(), modeReason: reason };
    channels.mode.publish({ bot, mode: to, reason });
    // The bot author's function may throw or reject. Neither may end the loop or the process.
    Promise.resolve()
      .then(() => timed("onSwitch()", () => onSwitch?.(to, reason)))
      .catch((thrown: unknown) => {
        log.error({ err: showError(thrown) }, "the onSwitch option failed");
      });
  }

  #asConfigured(state: ModeState): ModeState {
    return this.#options.delivery === "polling" ? { ...state, mode: "polling" } : state;
  }
}
