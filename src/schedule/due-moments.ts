import type { Clock } from "../core/clock.ts";
import type { CronPattern } from "../core/cron.ts";
import { minOf } from "../core/extremes.ts";
import { newTrace } from "../core/trace.ts";
import { cronEvent, cronType, type OwnEvent } from "../events/own.ts";
import type { CursorMove, Inbox } from "../inbox/inbox.ts";
import { LookLoop, type LookLoopOptions } from "./loop.ts";

/** A cron pattern and the name of its handler. */
export interface CronJob {
  readonly name: string;
  readonly pattern: string;
  readonly timeZone: string;
  /** Selects which of the ticks missed during downtime is due on startup. */
  readonly missed: "last" | "none";
  readonly moments: CronPattern;
}

export interface DueMomentsOptions extends LookLoopOptions {
  readonly inbox: Pick<Inbox, "put" | "cursor">;
  /** Clock with the time of day, which follows corrections to the machine's clock. */
  readonly wall: Pick<Clock, "now">;
  readonly crons: readonly CronJob[];
}

/** Delay after which a tick counts as missed, for example because the machine slept, in ms. */
const MAX_LATE_MS = 60_000;

/** Due ticks found by one check. */
interface DueCheck {
  readonly events: readonly OwnEvent[];
  readonly cursor?: CursorMove;
}

/**
 * Turns due cron ticks into inbox events. The next tick is not stored, because it is computed from the pattern. A
 * tick's id makes it the same event across instances and restarts.
 */
export class DueMoments extends LookLoop {
  readonly #options: DueMomentsOptions;
  /** Time of day of the last stored check, by name. The first check stores the positions of new cron jobs. */
  readonly #seenAt = new Map<string, number>();

  constructor(options: DueMomentsOptions) {
    super(options);
    this.#options = options;
  }

  protected override async look(): Promise<number | undefined> {
    const { inbox, crons, wall } = this.#options;
    const now = wall.now();
    const due = await Promise.all(crons.map((cron) => this.#dueOf(cron, now)));
    const events = due.flatMap((each) => each.events);
    const cursors = due.flatMap(({ cursor }) => (cursor === undefined ? [] : [cursor]));
    if (cursors.length > 0) await inbox.put(events, "poll", cursors, newTrace());
    for (const { name } of crons) this.#seenAt.set(name, now);
    const next = crons.flatMap(({ moments }) => moments.after(now) ?? []);
    return next.length === 0 ? undefined : Math.max(0, minOf(next) - wall.now());
  }

  async #dueOf(cron: CronJob, now: number): Promise<DueCheck> {
    const seenAt = this.#seenAt.get(cron.name);
    const first = seenAt === undefined ? undefined : cron.moments.after(seenAt);
    const isLate = first !== undefined && now - first > MAX_LATE_MS;
    // If the time of day was set back, `seenAt` lies in the future.
    const isGap = seenAt === undefined || isLate || seenAt - now > MAX_LATE_MS;
    const events = isGap ? await this.#missed(cron, now) : momentsOf(cron, seenAt, now);
    if (!isGap && events.length === 0) return { events };
    return { events, cursor: { name: cronType(cron.name), position: positionOf(cron, now) } };
  }

  /** Returns the missed tick that is still due after a gap, if any. A new or changed pattern has missed no tick. */
  async #missed(cron: CronJob, now: number): Promise<readonly OwnEvent[]> {
    const { inbox, log } = this.#options;
    const { name, moments, missed } = cron;
    const since = readPosition(cron, await inbox.cursor(cronType(name)));
    const last = moments.upTo(now);
    if (since === undefined || last === undefined || last <= since) return [];
    const dueAt = new Date(last).toISOString();
    log.info({ cron: name, dueAt, missed }, "a cron tick was missed while the bot was down");
    return missed === "last" ? [cronEvent(name, last)] : [];
  }
}

function momentsOf({ name, moments }: CronJob, since: number, now: number): readonly OwnEvent[] {
  const events: OwnEvent[] = [];
  for (let at = moments.after(since); at !== undefined && at <= now; at = moments.after(at)) {
    events.push(cronEvent(name, at));
  }
  return events;
}

/** Formats a position: the time up to which ticks are in the inbox, and the pattern from which they were computed. */
function positionOf({ pattern, timeZone }: CronJob, now: number): string {
  return `${new Date(now).toISOString()} ${timeZone} ${pattern}`;
}

/** Returns a position's time, or `undefined` if the pattern has changed. */
function readPosition(cron: CronJob, position: string | undefined): number | undefined {
  const [at = ""] = position?.split(" ") ?? [];
  const time = Date.parse(at);
  return Number.isNaN(time) || position !== positionOf(cron, time) ? undefined : time;
}
