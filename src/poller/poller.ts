import type { Random } from "../core/backoff.ts";
import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { hasCode } from "../errors.ts";
import { channels } from "../observe/channels.ts";
import { Health } from "./health.ts";
import type { Term } from "./leadership.ts";
import { LogReader, type LogReaderOptions } from "./log-reader.ts";
import {
  type FoundEvent,
  initialMode,
  type Mode,
  type ModeState,
  nextDeadline,
  type Observation,
  observe,
} from "./mode.ts";
import { type Brought, nobody, type Peers } from "./peers.ts";
import { type PollerStatus, PollRecord } from "./record.ts";

export interface PollerOptions extends Omit<LogReaderOptions, "term"> {
  readonly clock: Clock;
  readonly log: Logger;
  /** `auto` switches between auditing and polling; `polling` never audits. */
  readonly delivery: "auto" | "polling";
  /** Between two rounds while polling, in milliseconds. */
  readonly pollIntervalMs: number;
  /** Between two rounds while auditing, in milliseconds. */
  readonly auditIntervalMs: number;
  /** How long the webhook may take to bring an event, in milliseconds. */
  readonly silenceMs: number;
  /** The types that ever came by webhook. */
  readonly webhookTypes: ReadonlySet<string>;
  readonly onSwitch?: (mode: Mode, reason: string) => unknown;
  readonly random?: Random;
  /** The other instances of the bot. None by default. */
  readonly peers?: Peers | undefined;
  /**
   * True while the log brings what came after the backup that the inbox was restored from. Most of it was
   * acknowledged, and will not be delivered again: it says nothing about the webhook.
   */
  readonly isCatchingUp?: (() => boolean) | undefined;
}

/** The platform's time is known by a header of whole seconds, and up to this much later than it says. */
const DATE_STEP_MS = 1_000;

/**
 * Reads the event log again and again, and decides how often. The webhook is a hint; the log is the truth. Of
 * several instances one reads, and the others know what it knows.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #peers: Peers;
  readonly #health: Health;
  #reader: LogReader;
  readonly #record: PollRecord;
  readonly #stopping = new AbortController();
  /** Of the stop, and of the term. */
  #signal: AbortSignal = this.#stopping.signal;
  /** While this instance reads the log. */
  #term: Term | undefined;
  /** The stored position, as the instance says that reads the log. */
  #cursor: string | undefined;
  /** Deliveries from before this are no news, on our clock. */
  #heardTo = Number.NEGATIVE_INFINITY;
  #unfollow: () => void = () => undefined;
  #state: ModeState;
  #loop: Promise<void> = Promise.resolve();
  /** The events that came by webhook while the log is being read. */
  #broughtMeanwhile: Set<string> | undefined;
  /** When the part that may still be unsettled was last read, on our clock. */
  #auditedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#peers = options.peers ?? nobody;
    this.#health = new Health(options);
    this.#reader = this.#makeReader();
    this.#state = this.#asConfigured(initialMode(options.webhookTypes));
    const reason = options.delivery === "polling" ? "DELIVERY=polling" : "the bot has started";
    this.#record = new PollRecord(options.clock.now(), reason);
  }

  get mode(): Mode {
    return this.#state.mode;
  }

  /** Whether it is this instance that reads the log. */
  get leads(): boolean {
    return this.#term !== undefined;
  }

  /** How it has gone so far. */
  get status(): PollerStatus {
    const cursor = this.#term === undefined ? this.#cursor : this.#reader.cursor;
    return this.#record.show(this.mode, cursor);
  }

  start(): void {
    this.#unfollow = this.#peers.onSaved(() => {
      if (this.#term === undefined) void this.#learn();
    });
    this.#loop = this.#run();
  }

  /** Another instance can go on at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unfollow();
    await this.#loop;
    await this.#peers.leadership.resign();
    await this.#peers.close();
  }

  /** To be told of each webhook delivery. */
  delivered(events: Brought): void {
    const { delivery, platformNow } = this.#options;
    if (delivery === "polling" || this.#peers.delivered(events)) return;
    this.#brought(events, platformNow());
  }

  #makeReader(term?: number): LogReader {
    const purpose = () => (this.mode === "polling" ? "poll" : "audit");
    return new LogReader({ ...this.#options, term }, purpose);
  }

  async #run(): Promise<void> {
    const started = this.#options.clock.now();
    for (;;) {
      const term = await this.#peers.leadership.next(this.#stopping.signal);
      if (term === undefined) return;
      const known = term.afterGap ? undefined : await this.#learn();
      this.#heardTo = known?.at ?? started;
      this.#signal = AbortSignal.any([this.#stopping.signal, term.signal]);
      this.#reader = this.#makeReader(term.number);
      this.#auditedAt = Number.NEGATIVE_INFINITY;
      this.#term = term;
      await this.#read(term, started);
      this.#cursor = this.#reader.cursor;
      this.#term = undefined;
    }
  }

  /**
   * Reads the log until the term is over.
   *
   * @param started when the bot was, on our clock
   */
  async #read(term: Term, started: number): Promise<void> {
    const signal = this.#signal;
    let opened = false;
    // False once the first round after the start is over.
    let resumed = false;
    while (!signal.aborted) {
      try {
        if (!opened) resumed = (await this.#reader.open(signal)) && term.afterGap;
        opened = true;
        await this.#round(resumed ? started : undefined);
        resumed = false;
        this.#health.succeeded(this.#reader.atEnd);
        channels.poll.publish({ bot: this.#options.bot, code: undefined });
        await this.#rest();
      } catch (error) {
        // The store has said that another instance reads the log by now.
        if (hasCode(error, "LEASE_LOST")) term.end();
        if (signal.aborted) return;
        this.#record.failed(this.#options.clock.now(), error);
        channels.poll.publish({ bot: this.#options.bot, code: this.#record.failure?.code });
        const retryInMs = this.#health.failed(error, this.mode);
        await this.#save();
        await sleep(this.#options.clock, retryInMs, signal);
      }
    }
  }

  /** Takes over what the instance that reads the log knows, or the one that has read it. */
  async #learn(): Promise<{ readonly at: number } | undefined> {
    const seen = await this.#peers.load();
    if (seen === undefined || this.#term !== undefined) return undefined;
    this.#state = this.#asConfigured(seen.state);
    this.#record.restore(seen.status);
    this.#cursor = seen.status.cursor;
    return seen;
  }

  #asConfigured(state: ModeState): ModeState {
    return this.#options.delivery === "polling" ? { ...state, mode: "polling" } : state;
  }

  async #save(): Promise<void> {
    const term = this.#term;
    const saved = await this.#peers.save(term?.number, { state: this.#state, status: this.status });
    if (!saved) term?.end();
  }

  /** Hears what the webhook has brought to any instance. */
  async #hear(): Promise<void> {
    const { platformNow, clock } = this.#options;
    for (const { msAgo, events } of await this.#peers.heard()) {
      const isNews = clock.now() - msAgo >= this.#heardTo;
      if (isNews) this.#brought(events, platformNow() - msAgo);
    }
  }

  #brought(events: Brought, now: number): void {
    for (const { id } of events) this.#broughtMeanwhile?.add(id);
    this.#observe({ kind: "delivery", now, events });
  }

  /** @param resumedAt when the bot started, on our clock, for the first round that continues from a cursor */
  async #round(resumedAt?: number): Promise<void> {
    const { clock, auditIntervalMs, platformNow, log, isCatchingUp } = this.#options;
    const tells = isCatchingUp?.() !== true;
    const due = clock.now() - this.#auditedAt >= auditIntervalMs;
    const audit = due || this.#state.mode === "auditing";
    const started = clock.now();
    const brought = new Set<string>();
    this.#broughtMeanwhile = brought;
    const signal = this.#signal;
    const read: FoundEvent[] = [];
    let partial = true;
    try {
      await this.#reader.read(audit ? "cursor" : "head", signal, read);
      partial = false;
      if (audit) this.#auditedAt = started;
      this.#record.read(clock.now(), { started, atEnd: this.#reader.atEnd });
    } finally {
      await this.#hear();
      this.#broughtMeanwhile = undefined;
      // What the webhook has brought since the log did is not missing any more.
      const found = read.filter(({ id }) => !brought.has(id));
      if (found.length > 0) log.info({ found: found.length, mode: this.mode }, "polled");
      // Also when the reading failed half-way: no later one finds these again.
      if (!signal.aborted && tells && (!partial || found.length > 0)) {
        const now = platformNow();
        const offset = now - clock.now() + DATE_STEP_MS;
        const away = resumedAt === undefined ? undefined : resumedAt + offset;
        this.#observe({ kind: "round", now, found, resumedAt: away, partial });
      }
    }
    await this.#save();
  }

  /** Waits for the next round, and looks up when an event becomes overdue before that. */
  async #rest(): Promise<void> {
    const { clock, pollIntervalMs, auditIntervalMs, silenceMs, platformNow } = this.#options;
    const signal = this.#signal;
    const isPolling = this.mode === "polling" && this.#reader.atEnd;
    const until = clock.now() + (isPolling ? pollIntervalMs : auditIntervalMs);
    while (!signal.aborted && clock.now() < until) {
      const deadline = nextDeadline(this.#state, silenceMs);
      const ms = deadline === undefined ? Infinity : deadline - platformNow() + 1;
      await sleep(clock, Math.max(0, Math.min(ms, until - clock.now())), signal);
      if (deadline !== undefined) await this.#hear();
      const before = this.mode;
      this.#observe({ kind: "tick", now: platformNow() });
      if (this.mode !== before) return await this.#save();
    }
  }

  #observe(observation: Observation): void {
    const { silenceMs, clock, log, onSwitch, bot } = this.#options;
    const { state, switched } = observe(this.#state, observation, silenceMs);
    this.#state = state;
    if (switched === undefined) return;
    const { to, reason } = switched;
    this.#record.switched(clock.now(), reason);
    channels.mode.publish({ bot, mode: to, reason });
    // It is the bot's own, and may throw or reject: neither may end the loop, or the process.
    Promise.resolve()
      .then(() => onSwitch?.(to, reason))
      .catch((err: unknown) => log.error({ err }, "the onSwitch option failed"));
  }
}
