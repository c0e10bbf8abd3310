import { ApiError, outageOf } from "../client/errors.ts";
import { backoff, type Random } from "../core/backoff.ts";
import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
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
import { type PollerStatus, PollRecord } from "./record.ts";

export interface PollerOptions extends LogReaderOptions {
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
}

/** A token that is refused is tried again this often, in milliseconds. */
const REFUSED_RETRY_MS = 300_000;

/** The platform's time is known by a header of whole seconds, and up to this much later than it says. */
const DATE_STEP_MS = 1_000;

/** The longest pause after failures in a row, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

const NO_END =
  "the event log goes on and on without events: its cursor moves, and nothing comes; it is read at the audit interval";

/** Reads the event log again and again, and decides how often. The webhook is a hint; the log is the truth. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #reader: LogReader;
  readonly #record: PollRecord;
  readonly #stopping = new AbortController();
  #state: ModeState;
  #loop: Promise<void> = Promise.resolve();
  #failures = 0;
  /** The events that came by webhook while the log is being read. */
  #broughtMeanwhile: Set<string> | undefined;
  /** How the log failed to be read, as it was last told; undefined while it can be read. */
  #told: string | undefined;
  #reachesEnd = true;
  /** When the part that may still be unsettled was last read, on our clock. */
  #auditedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#reader = new LogReader(options, () => (this.mode === "polling" ? "poll" : "audit"));
    const state = initialMode(options.webhookTypes);
    const polls = options.delivery === "polling";
    this.#state = polls ? { ...state, mode: "polling" } : state;
    const reason = polls ? "DELIVERY=polling" : "the bot has started";
    this.#record = new PollRecord(options.clock.now(), reason);
  }

  get mode(): Mode {
    return this.#state.mode;
  }

  /** How it has gone so far. */
  get status(): PollerStatus {
    return this.#record.show(this.mode, this.#reader.cursor);
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  /** To be told of each webhook delivery. */
  delivered(events: readonly { readonly id: string; readonly type: string }[]): void {
    if (this.#options.delivery === "polling") return;
    for (const { id } of events) this.#broughtMeanwhile?.add(id);
    this.#observe({ kind: "delivery", now: this.#options.platformNow(), events });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let opened = false;
    // False once the first round after the start is over.
    let resumed = false;
    const started = this.#options.clock.now();
    while (!signal.aborted) {
      try {
        if (!opened) resumed = await this.#reader.open(signal);
        opened = true;
        await this.#round(resumed ? started : undefined);
        resumed = false;
        this.#succeeded();
        await this.#rest();
      } catch (error) {
        if (!signal.aborted) await sleep(this.#options.clock, this.#failed(error), signal);
      }
    }
  }

  /** @param resumedAt when the bot started, on our clock, for the first round that continues from a cursor */
  async #round(resumedAt?: number): Promise<void> {
    const { clock, auditIntervalMs, platformNow, log } = this.#options;
    const due = clock.now() - this.#auditedAt >= auditIntervalMs;
    const audit = due || this.#state.mode === "auditing";
    const started = clock.now();
    const brought = new Set<string>();
    this.#broughtMeanwhile = brought;
    const { signal } = this.#stopping;
    const read: FoundEvent[] = [];
    let partial = true;
    try {
      await this.#reader.read(audit ? "cursor" : "head", signal, read);
      partial = false;
      if (audit) this.#auditedAt = started;
      this.#record.read(clock.now(), { started, atEnd: this.#reader.atEnd });
    } finally {
      this.#broughtMeanwhile = undefined;
      // What the webhook has brought since the log did is not missing any more.
      const found = read.filter(({ id }) => !brought.has(id));
      if (found.length > 0) log.info({ found: found.length, mode: this.mode }, "polled");
      // Also when the reading failed half-way: no later one finds these again.
      if (!signal.aborted && (!partial || found.length > 0)) {
        const now = platformNow();
        const offset = now - clock.now() + DATE_STEP_MS;
        const away = resumedAt === undefined ? undefined : resumedAt + offset;
        this.#observe({ kind: "round", now, found, resumedAt: away, partial });
      }
    }
  }

  /** Waits for the next round, and looks up when an event becomes overdue before that. */
  async #rest(): Promise<void> {
    const { clock, pollIntervalMs, auditIntervalMs, silenceMs, platformNow } = this.#options;
    const { signal } = this.#stopping;
    const isPolling = this.mode === "polling" && this.#reader.atEnd;
    const until = clock.now() + (isPolling ? pollIntervalMs : auditIntervalMs);
    while (!signal.aborted && clock.now() < until) {
      const deadline = nextDeadline(this.#state, silenceMs);
      const ms = deadline === undefined ? Infinity : deadline - platformNow() + 1;
      await sleep(clock, Math.max(0, Math.min(ms, until - clock.now())), signal);
      const before = this.mode;
      this.#observe({ kind: "tick", now: platformNow() });
      if (this.mode !== before) return;
    }
  }

  #observe(observation: Observation): void {
    const { silenceMs, clock, log, onSwitch } = this.#options;
    const { state, switched } = observe(this.#state, observation, silenceMs);
    this.#state = state;
    if (switched === undefined) return;
    const { to, reason } = switched;
    this.#record.switched(clock.now(), reason);
    if (to === "polling") log.warn({ mode: to, reason }, "polling takes over from the webhook");
    else log.info({ mode: to, reason }, "the webhook is used again; polling goes back to audits");
    // It is the bot's own, and may throw or reject: neither may end the loop, or the process.
    Promise.resolve()
      .then(() => onSwitch?.(to, reason))
      .catch((err: unknown) => log.error({ err }, "the onSwitch option failed"));
  }

  #succeeded(): void {
    const { log } = this.#options;
    if (this.#failures > 0) log.info("the event log can be read again");
    this.#failures = 0;
    this.#told = undefined;
    const { atEnd } = this.#reader;
    if (this.#reachesEnd && !atEnd) log.warn(NO_END);
    this.#reachesEnd = atEnd;
  }

  /** Logs a failed round; returns how long to wait before the next one, in milliseconds. */
  #failed(err: unknown): number {
    const { clock, log, pollIntervalMs, random } = this.#options;
    this.#failures += 1;
    this.#record.failed(clock.now(), err);
    if (err instanceof ApiError && (err.status === 401 || err.status === 403)) {
      const retryInMs = REFUSED_RETRY_MS;
      if (this.#isNews(String(err.status)))
        log.error({ err, retryInMs }, this.#refusal(err.status));
      return retryInMs;
    }
    const policy = { baseMs: pollIntervalMs, maxMs: MAX_PAUSE_MS, factor: 2 };
    const asked = outageOf(err)?.retryAfterMs ?? 0;
    const retryInMs = Math.max(asked, pollIntervalMs, backoff(policy, this.#failures, random));
    const level = this.#isNews("unreadable") ? "warn" : "debug";
    log[level]({ err, retryInMs }, "the event log cannot be read");
    return retryInMs;
  }

  /** Whether the log fails in another way than the last time: what is known is not told again. */
  #isNews(failure: string): boolean {
    const isNews = this.#told !== failure;
    this.#told = failure;
    return isNews;
  }

  /** What a person can do about a token that may not read the log (section 5 of the platform document). */
  #refusal(status: 401 | 403): string {
    const remedy =
      status === 401
        ? "the platform does not accept the token: check SERVICE_API_KEY"
        : "the token may not read the event log: give it the scope read, dm or both in the developer portal";
    const meanwhile =
      this.mode === "auditing"
        ? "webhook deliveries go on, but what the webhook loses is not found"
        : "no event arrives until then, except what the webhook brings";
    const alone = "no event arrives until then";
    return `${remedy}; ${this.#options.delivery === "polling" ? alone : meanwhile}`;
  }
}
