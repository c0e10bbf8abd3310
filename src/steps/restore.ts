import type { Client } from "../client/client.ts";
import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";
import {
  RESTORED,
  type RestoreMark,
  readRestoreMark,
  writeRestoreMark,
} from "../inbox/restored.ts";
import type { Past } from "./step.ts";

export interface RestoredOptions {
  readonly inbox: Pick<Inbox, "cursor" | "put" | "measure">;
  readonly client: Pick<Client, "syncClock" | "platformNow">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The reader of the event log; undefined with DELIVERY=webhook. */
type Reading = { readonly status: ReadingStatus } | undefined;

interface ReadingStatus {
  readonly readToEndAt: number | undefined;
  readonly lastPollError: unknown;
}

/** So often it is looked how far things are while the handlers wait for the log, in milliseconds. */
const START_LOOK_MS = 200;

/** So often when nobody waits any more, in milliseconds. */
const LOOK_MS = 5_000;

/** The platform's time is known by a header of whole seconds, and its own clocks differ a little, in milliseconds. */
const SLACK_MS = 3_000;

/** Clocks of a bot that gets deliveries are not further apart, for signatures are good that long, in milliseconds. */
const CLOCKS_MS = 300_000;

/** When an event was received says the store, whose clock may be another one than the bot's, in milliseconds. */
const STORE_CLOCK_MS = 10_000;

/** A log that cannot be read holds up the handlers for so long, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * What a bot knows of the backup that its inbox came from. Whatever a process may have handled after that backup was
 * taken is in doubt: what its steps would do is looked for first.
 */
export class Restored {
  readonly #options: RestoredOptions;
  readonly #startedAt: number;
  readonly #stopping = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #poller: Reading;
  #mark: RestoreMark;

  /** Undefined for an inbox that was never restored. */
  static async of(options: RestoredOptions): Promise<Restored | undefined> {
    const mark = readRestoreMark(await options.inbox.cursor(RESTORED));
    return mark && new Restored(options, mark);
  }

  private constructor(options: RestoredOptions, mark: RestoreMark) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#mark = mark;
  }

  get mark(): RestoreMark {
    return this.#mark;
  }

  /** Whether the events that came after the backup are still on their way from the log. */
  get isCatchingUp(): boolean {
    return this.#mark.readAt === undefined && this.#mark.overAt === undefined;
  }

  /** Tells of it, and sees to it until nothing is in doubt any more. */
  start(poller: Reading): void {
    const { log } = this.#options;
    const { at, overAt } = this.#mark;
    this.#poller = poller;
    if (overAt !== undefined) return;
    log.warn(
      { restoredAt: new Date(at).toISOString() },
      "the inbox was restored from a backup; what may have been done since that was taken is looked for before it is done",
    );
    if (poller === undefined)
      log.warn("DELIVERY=webhook reads no log: what was delivered after the backup stays missing");
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  /**
   * Resolves when the events that came after the backup are in the inbox again: handled before those, a later one of
   * their lane would be out of order, and would take for its own what was said for them. One that cannot be read is
   * not waited for for ever. False when the bot stops before that.
   */
  async logIsRead(): Promise<boolean> {
    const { clock, log } = this.#options;
    const poller = this.#poller;
    const { signal } = this.#stopping;
    while (poller !== undefined && this.isCatchingUp && !signal.aborted) {
      if (this.#isLate() && poller.status.lastPollError !== undefined) {
        log.warn("the event log cannot be read after the restore; events are handled all the same");
        break;
      }
      await sleep(clock, START_LOOK_MS, signal);
    }
    return !signal.aborted;
  }

  /** What may have been done for an event before the restore; undefined when it is newer than that. */
  async pastOf({ createdAt }: AnyEvent, { receivedAt }: Claim): Promise<Past | undefined> {
    const since = Date.parse(createdAt);
    const { at, readAt, assumeAbsent } = this.#mark;
    const ageMs = Math.max(0, this.#options.clock.now() - at);
    // Nobody knows when it was made. What the log had at the restore has been received by the time it is read to its end.
    if (Number.isNaN(since)) {
      const isNew = readAt !== undefined && receivedAt > readAt + CLOCKS_MS;
      return isNew ? undefined : { since: undefined, ageMs, assumeAbsent };
    }
    if (since > (await this.#until()) + SLACK_MS) return undefined;
    return { since, ageMs, assumeAbsent };
  }

  /** When the last event may have been made that was handled before the restore, on the platform's clock. */
  async #until(): Promise<number> {
    const { client, clock } = this.#options;
    if (this.#mark.until === undefined) {
      await client.syncClock();
      this.#learnUntil();
    }
    return this.#mark.until ?? clock.now() + CLOCKS_MS;
  }

  /** This moment, for whoever did anything before has ended before this bot began. */
  #learnUntil(): void {
    const now = this.#options.client.platformNow();
    if (this.#mark.until !== undefined || now === undefined) return;
    this.#mark = { ...this.#mark, until: now };
  }

  async #watch(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (await this.#look()) {
          log.info("nothing is in doubt any more after the restore, but for dead letters");
          return;
        }
      } catch (err) {
        log.debug({ err }, "what is known of the restore cannot be written");
      }
      const isAwaited = this.isCatchingUp && !this.#isLate();
      await sleep(clock, isAwaited ? START_LOOK_MS : LOOK_MS, signal);
    }
  }

  /** True when nothing is in doubt any more, and that is written. */
  async #look(): Promise<boolean> {
    const { clock, client } = this.#options;
    let stored = await this.#adopt();
    if (this.#mark.until === undefined) {
      await client.syncClock();
      stored = await this.#adopt();
      this.#learnUntil();
    }
    if (this.#mark.readAt === undefined) this.#mark = { ...this.#mark, readAt: this.#readAt() };
    if (this.#mark.overAt === undefined && (await this.#isOver())) {
      this.#mark = { ...this.#mark, overAt: clock.now() };
    }
    const { until, readAt, overAt } = this.#mark;
    if (until !== stored?.until || readAt !== stored?.readAt || overAt !== stored?.overAt) {
      await this.#write();
    }
    return overAt !== undefined;
  }

  /** When the log was read to its end. One that is never read brings nothing that had to be waited for. */
  #readAt(): number | undefined {
    if (this.#poller === undefined) return this.#startedAt;
    const { readToEndAt } = this.#poller.status;
    const wasRead = readToEndAt !== undefined && readToEndAt >= this.#startedAt;
    return wasRead ? this.#options.clock.now() : undefined;
  }

  async #isOver(): Promise<boolean> {
    const { readAt } = this.#mark;
    if (readAt === undefined) return false;
    const { oldestPendingAt } = await this.#options.inbox.measure();
    return oldestPendingAt === undefined || oldestPendingAt > readAt + STORE_CLOCK_MS;
  }

  #isLate(): boolean {
    return this.#options.clock.now() - this.#startedAt >= PATIENCE_MS;
  }

  /** What another instance has learned first stays; of several, one reads the log for all. */
  async #adopt(): Promise<RestoreMark | undefined> {
    const stored = readRestoreMark(await this.#options.inbox.cursor(RESTORED));
    this.#mark = { ...this.#mark, ...stored };
    return stored;
  }

  async #write(): Promise<void> {
    const position = writeRestoreMark(this.#mark);
    await this.#options.inbox.put([], "poll", [{ name: RESTORED, position }]);
  }
}
