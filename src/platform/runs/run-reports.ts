import type { RunReport } from "../../core/run-report.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { EntryOf } from "../timeline/await.ts";
import type { Timeline } from "../timeline/timeline.ts";

export interface RunReportsOptions {
  readonly shown: ShownEvents;
  readonly timeline: Timeline;
}

/** Runs as the bots report them. They are kept as entries of the timeline. */
export class RunReports {
  readonly #options: RunReportsOptions;
  readonly #bots = new Set<string>();

  constructor(options: RunReportsOptions) {
    this.#options = options;
  }

  /** Usernames of the bots that have reported to this platform since its start. */
  get bots(): readonly string[] {
    return [...this.#bots];
  }

  /**
   * Records the runs of a bot. A run of an event that is not in the bot's log is ignored: the state may have been
   * replaced meanwhile.
   *
   * @returns how many were recorded
   */
  accept(bot: { readonly seq: number; readonly username: string }, runs: RunReport[]): number {
    const { shown, timeline } = this.#options;
    this.#bots.add(bot.username);
    const known = runs.filter(({ eventId }) => shown.has(bot.seq, eventId));
    for (const run of known) timeline.add({ kind: "run", bot: bot.username, ...run });
    return known.length;
  }

  /** Runs of one event, oldest first, if the timeline still has them. */
  of(eventId: string): EntryOf<"run">[] {
    const runs = this.#options.timeline.after(0).filter((entry) => entry.kind === "run");
    return runs.filter((run) => run.eventId === eventId);
  }
}
