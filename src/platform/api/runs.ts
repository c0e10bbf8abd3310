import {
  MAX_REPORTED_RUNS,
  type ReportedError,
  type RunReport,
  reportedOutcomes,
} from "../../core/platform-contract.ts";
import * as z from "../../core/zod.ts";
import { notFound } from "../error.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { type Answer, jsonAnswer } from "../http/answer.ts";
import { readJson, validate } from "../http/body.ts";
import { type Incoming, type Route, Routes } from "../http/routes.ts";
import type { Store } from "../store/store.ts";
import type { EntryOf, Timeline } from "../timeline/timeline.ts";
import { authenticate } from "./token.ts";

/** Longest text of a report, in characters. */
const MAX_LENGTH = 10_000;

const text = z.string().max(MAX_LENGTH);
const span = z.number().min(0);

const reportedError: z.ZodType<ReportedError> = z.object({
  type: text,
  code: text.optional(),
  message: text,
  stack: text.optional(),
});

const runReport: z.ZodType<RunReport> = z.object({
  eventId: z.string(),
  attempt: z.number().int().min(1),
  outcome: z.enum(reportedOutcomes),
  ms: span,
  retryInMs: span.optional(),
  error: reportedError.optional(),
});

const runsBody: z.ZodType<{ runs: RunReport[] }> = z.object({
  runs: z.array(runReport).max(MAX_REPORTED_RUNS),
});

const routes: Routes<Route> = new Routes([{ method: "POST", path: "/" }]);

export interface RunReportsOptions {
  /** Returns the world of the state that is in use. */
  readonly world: () => { readonly store: Store; readonly shown: ShownEvents };
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

  /** Takes a report, which a bot sends with its API key. */
  async answer({ request, method, path }: Incoming): Promise<Answer> {
    if (routes.find(method, path) === undefined) throw notFound("page");
    const { tokens, people } = this.#options.world().store;
    const { bot } = authenticate(tokens, request);
    const { runs } = validate(runsBody, await readJson(request));
    const accepted = this.#accept(people.get(bot), runs);
    return jsonAnswer(200, JSON.stringify({ accepted }));
  }

  /** Runs of one event, oldest first, if the timeline still has them. */
  of(eventId: string): EntryOf<"run">[] {
    const runs = this.#options.timeline.after(0).filter((entry) => entry.kind === "run");
    return runs.filter((run) => run.eventId === eventId);
  }

  /**
   * Records the runs of a bot, and returns how many. A run of an event that is not in the bot's log is ignored, because
   * the state may have been replaced meanwhile.
   */
  #accept(bot: { readonly seq: number; readonly username: string }, runs: RunReport[]): number {
    const { world, timeline } = this.#options;
    const { shown } = world();
    this.#bots.add(bot.username);
    const known = runs.filter(({ eventId }) => shown.has(bot.seq, eventId));
    for (const run of known) timeline.add({ kind: "run", bot: bot.username, ...run });
    return known.length;
  }
}
