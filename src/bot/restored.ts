import type { Client } from "../client/client.ts";
import { type Clock, every, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { Past } from "../core/step.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";
import {
  RESTORED,
  type RestoreMark,
  readRestoreMark,
  writeRestoreMark,
} from "../inbox/restored.ts";
import type { Poller } from "../poller/poller.ts";

export interface RestoredOptions {
  readonly inbox: Pick<Inbox, "cursor" | "put" | "stats">;
  readonly client: Pick<Client, "learnTime" | "platformNow">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined with DELIVERY=webhook. */
  readonly poller: Pick<Poller, "status"> | undefined;
}

/** So often it is looked how far things are, in milliseconds. */
const LOOK_MS = 200;

/** The platform's time is known by a header of whole seconds, and its own clocks differ a little, in milliseconds. */
const SLACK_MS = 3_000;

/** Clocks of a bot that gets deliveries are not further apart, for signatures are good that long, in milliseconds. */
const CLOCKS_MS = 300_000;

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

  /** Tells of it, and sees to it until nothing is in doubt any more. */
  start(): void {
    const { clock, log, poller } = this.#options;
    const { at, overAt } = this.#mark;
    if (overAt !== undefined) return;
    log.warn(
      { restoredAt: new Date(at).toISOString() },
      "the inbox was restored from a backup; what may have been done since that was taken is looked for before it is done",
    );
    if (poller === undefined)
      log.warn("DELIVERY=webhook reads no log: what was delivered after the backup stays missing");
    const over = new AbortController();
    const end = AbortSignal.any([this.#stopping.signal, over.signal]);
    const look = () =>
      this.#look(over).catch((err: unknown) =>
        log.debug({ err }, "what is known of the restore cannot be written"),
      );
    this.#watching = Promise.all([look(), every(clock, LOOK_MS, look, end)]).then(() => undefined);
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
    const { clock, log, poller } = this.#options;
    const { signal } = this.#stopping;
    while (poller !== undefined && this.#mark.readAt === undefined && !signal.aborted) {
      const tooLong = clock.now() - this.#startedAt >= PATIENCE_MS;
      if (tooLong && poller.status.lastPollError !== undefined) {
        log.warn("the event log cannot be read after the restore; events are handled all the same");
        break;
      }
      await sleep(clock, LOOK_MS, signal);
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
      await client.learnTime();
      this.#learnUntil();
    }
    return this.#mark.until ?? clock.now() + CLOCKS_MS;
  }

  /** This moment, for whoever did anything before has ended before this bot began. */
  #learnUntil(): boolean {
    const now = this.#options.client.platformNow();
    if (this.#mark.until !== undefined || now === undefined) return false;
    this.#mark = { ...this.#mark, until: now };
    return true;
  }

  async #look(over: AbortController): Promise<void> {
    const { clock, log, client, inbox } = this.#options;
    await client.learnTime();
    let isNews = this.#learnUntil();
    if (this.#mark.readAt === undefined && this.#wasRead()) {
      this.#mark = { ...this.#mark, readAt: clock.now() };
      isNews = true;
    }
    const { readAt } = this.#mark;
    if (readAt !== undefined) {
      const { oldestPendingAt } = await inbox.stats();
      if (oldestPendingAt === undefined || oldestPendingAt > readAt) {
        this.#mark = { ...this.#mark, overAt: clock.now() };
        isNews = true;
      }
    }
    if (isNews) await this.#write();
    if (this.#mark.overAt === undefined) return;
    log.info("nothing is in doubt any more after the restore, but for dead letters");
    over.abort();
  }

  #wasRead(): boolean {
    const readToEndAt = this.#options.poller?.status.readToEndAt;
    return readToEndAt !== undefined && readToEndAt >= this.#startedAt;
  }

  /** What another instance has learned first stays. */
  async #write(): Promise<void> {
    const { inbox } = this.#options;
    const stored = readRestoreMark(await inbox.cursor(RESTORED));
    const { until = this.#mark.until } = stored ?? {};
    this.#mark = { ...stored, ...this.#mark, until };
    const position = writeRestoreMark(this.#mark);
    await inbox.put([], "poll", [{ name: RESTORED, position }]);
  }
}
