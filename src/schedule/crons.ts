import type { Clock } from "../core/clock.ts";
import { newTrace } from "../core/trace.ts";
import { ServiceBotError } from "../errors.ts";
import { cronEvent } from "../events/own.ts";
import type { CronView } from "../inbox/admin.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { CronJob } from "./due-moments.ts";

export interface CronsOptions {
  readonly inbox: Pick<Inbox, "put" | "admin">;
  /** The time of day. */
  readonly wall: Pick<Clock, "now">;
  readonly routes: { readonly crons: readonly CronJob[] };
}

const SECOND_MS = 1_000;

/** Lists and fires a bot's cron jobs. */
export class Crons {
  readonly #options: CronsOptions;
  /** Last tick fired manually in this process, by name, in ms since 1970. */
  readonly #firedAt = new Map<string, number>();

  constructor(options: CronsOptions) {
    this.#options = options;
  }

  list(): Promise<readonly CronView[]> {
    const { wall, routes } = this.#options;
    const now = wall.now();
    return Promise.all(
      routes.crons.map(async (cron) => {
        const { name, pattern, timeZone, missed, moments } = cron;
        const last = await this.#lastOf(cron, now);
        return { name, pattern, timeZone, missed, nextAt: moments.after(now), last };
      }),
    );
  }

  /**
   * Fires a cron job now and returns the event's id. Like the id of any tick, it consists of the cron job's name and
   * the second. If the cron job is also due in that second, both are one event. The schedule's position and next tick
   * do not change.
   *
   * @returns `undefined` if there is no cron job with that name
   */
  async fire(name: string): Promise<string | undefined> {
    const { inbox, wall, routes } = this.#options;
    if (!routes.crons.some((cron) => cron.name === name)) return undefined;
    const moment = Math.floor(wall.now() / SECOND_MS) * SECOND_MS;
    const event = cronEvent(name, moment);
    await inbox.put([event], "poll", [], newTrace());
    this.#firedAt.set(name, moment);
    return event.id;
  }

  async #lastOf({ name, moments }: CronJob, now: number): Promise<CronView["last"]> {
    const found = [this.#firedAt.get(name), moments.upTo(now)].filter((at) => at !== undefined);
    for (const at of found.sort((a, b) => b - a)) {
      const event = await this.#find(cronEvent(name, at).id);
      if (event !== undefined) return event;
    }
    return undefined;
  }

  async #find(eventId: string): Promise<CronView["last"]> {
    try {
      const { id, state, receivedAt } = await this.#options.inbox.admin.show(eventId);
      return { id, state, receivedAt };
    } catch (error) {
      if (error instanceof ServiceBotError && error.code === "EVENT_NOT_FOUND") return undefined;
      throw error;
    }
  }
}
