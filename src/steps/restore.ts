import type { Client } from "../client/client.ts";
import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { isOwn, setterOf } from "../events/own.ts";
import type { AnyEvent, TimerSetter } from "../events/types.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";
import {
  RESTORED,
  type RestoreMark,
  readRestoreMark,
  writeRestoreMark,
} from "../inbox/restore-mark.ts";
import type { LostRun } from "./step.ts";

export interface RestoreOptions {
  readonly inbox: Pick<Inbox, "cursor" | "put">;
  readonly client: Pick<Client, "syncClock" | "platformNow">;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface LogReading {
  readonly status: {
    readonly readToEndAt: number | undefined;
    readonly lastPollError: unknown;
  };
}

/** Poll interval while handlers wait for the log, in ms. */
const LOOK_INTERVAL_MS = 200;

/** Poll interval once handlers are running, in ms. */
const SLOW_LOOK_INTERVAL_MS = 5_000;

/** Time after which handlers start even if the log cannot be read, in ms. */
const LOG_TIMEOUT_MS = 60_000;

/**
 * Tolerance for the platform's time, in ms. The time comes from a header in whole seconds, and the clocks of the
 * platform's servers differ slightly.
 */
const SLACK_MS = 3_000;

/**
 * Tolerance for the bot's clock, in ms. Signatures are valid for this long, so a bot that receives deliveries has a
 * clock that is off by at most this much.
 */
const MAX_CLOCK_DIFFERENCE_MS = 300_000;

/**
 * Restore of an inbox from a backup. If an event was created before the first start after the restore, a lost run may
 * already have performed any of its steps. These steps begin as uncertain.
 */
export class RestoreWindow {
  readonly #options: RestoreOptions;
  readonly #startedAt: number;
  readonly #stopping = new AbortController();
  #following: Promise<void> = Promise.resolve();
  #mark: RestoreMark;

  /** Resolves to `undefined` if the inbox was never restored. */
  static async open(options: RestoreOptions): Promise<RestoreWindow | undefined> {
    const mark = readRestoreMark(await options.inbox.cursor(RESTORED));
    return mark && new RestoreWindow(options, mark);
  }

  private constructor(options: RestoreOptions, mark: RestoreMark) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#mark = mark;
  }

  get mark(): RestoreMark {
    return this.#mark;
  }

  /** True until the log has returned the events created after the backup. */
  get isReadingLog(): boolean {
    return this.#mark.readAt === undefined;
  }

  /**
   * Resolves to true when handlers may start, or to false if the bot stops first. Handlers wait for the log, because
   * otherwise a later event in a lane could run before an earlier one and claim its replies. If the log cannot be read,
   * the wait ends after a minute.
   *
   * @param reading `undefined` if the bot does not read the log
   */
  async start(reading: LogReading | undefined): Promise<boolean> {
    const { at, until, readAt } = this.#mark;
    const { log } = this.#options;
    if (until !== undefined && readAt !== undefined) return true;
    if (readAt === undefined) {
      log.warn(
        { restoredAt: new Date(at).toISOString() },
        "the inbox was restored from a backup; checking for replies sent since then",
      );
      if (reading === undefined) {
        log.warn(
          "DELIVERY=webhook does not read the event log; events delivered after the backup are lost",
        );
      }
    }
    const begun = Promise.withResolvers<void>();
    this.#following = this.#follow(reading, begun.resolve);
    await Promise.race([begun.promise, this.#following]);
    return !this.#stopping.signal.aborted;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }

  /** Returns the run that may have handled an event before the restore, or `undefined` if the event is newer. */
  lostRunOf(event: AnyEvent, { receivedAt }: Claim): LostRun | undefined {
    const { clock } = this.#options;
    const { at, until, readAt } = this.#mark;
    const endedMsAgo = Math.max(0, clock.now() - at);
    const setter = setterOf(event);
    // The lost run may also have set the timer, but for another time.
    if (setter?.inDoubt) return { eventAt: this.#timeOf(setter), endedMsAgo };
    const eventAt = this.#timeOf(event);
    if (eventAt === undefined) {
      // When the log was read, the bot had received every event that was in the log at the restore.
      const isNew = readAt !== undefined && receivedAt > readAt + MAX_CLOCK_DIFFERENCE_MS;
      return isNew ? undefined : { eventAt, endedMsAgo };
    }
    const end =
      until ?? this.#options.client.platformNow() ?? clock.now() + MAX_CLOCK_DIFFERENCE_MS;
    return eventAt > end + SLACK_MS ? undefined : { eventAt, endedMsAgo };
  }

  /** Returns an event's creation time on the platform's clock. The bot's own events are dated by the bot's clock. */
  #timeOf({ type, createdAt }: Pick<TimerSetter, "type" | "createdAt">): number | undefined {
    const time = Date.parse(createdAt);
    if (Number.isNaN(time)) return undefined;
    const { clock, client } = this.#options;
    const now = clock.now();
    return isOwn(type) ? time + ((client.platformNow() ?? now) - now) : time;
  }

  /** Completes the mark with the platform's time at startup and the time when the log was read. */
  async #follow(reading: LogReading | undefined, begin: () => void): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    let hasBegun = false;
    while (!signal.aborted) {
      const isComplete = await this.#look(reading).catch((err: unknown) => {
        log.debug({ err }, "could not save the restore's progress");
        return false;
      });
      if (!hasBegun && (!this.isReadingLog || this.#isOverdue(reading))) {
        if (this.isReadingLog) {
          log.warn("could not read the event log after the restore; starting handlers without it");
        }
        hasBegun = true;
        begin();
      }
      if (isComplete) return;
      await sleep(clock, hasBegun ? SLOW_LOOK_INTERVAL_MS : LOOK_INTERVAL_MS, signal);
    }
  }

  /** Resolves to true once the complete mark is stored. */
  async #look(reading: LogReading | undefined): Promise<boolean> {
    const { inbox, client } = this.#options;
    await client.syncClock();
    // Prefer other instances' values, because one instance reads the log for all.
    const stored = readRestoreMark(await inbox.cursor(RESTORED));
    const until = stored?.until ?? this.#mark.until ?? client.platformNow();
    const readAt = stored?.readAt ?? this.#mark.readAt ?? this.#logReadAt(reading);
    this.#mark = { at: this.#mark.at, until, readAt };
    if (until !== stored?.until || readAt !== stored?.readAt) {
      const position = writeRestoreMark(this.#mark);
      await inbox.put([], "poll", [{ name: RESTORED, position }]);
    }
    return until !== undefined && readAt !== undefined;
  }

  /**
   * Returns the time when the log was read to its end after startup. Without a reader, there is no read to wait for.
   */
  #logReadAt(reading: LogReading | undefined): number | undefined {
    if (reading === undefined) return this.#startedAt;
    const { readToEndAt } = reading.status;
    const isRead = readToEndAt !== undefined && readToEndAt >= this.#startedAt;
    return isRead ? this.#options.clock.now() : undefined;
  }

  #isOverdue(reading: LogReading | undefined): boolean {
    const isLate = this.#options.clock.now() - this.#startedAt >= LOG_TIMEOUT_MS;
    return isLate && reading?.status.lastPollError !== undefined;
  }
}
