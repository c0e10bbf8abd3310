import * as z from "zod";
import { isLoopback } from "../../core/addresses.ts";
import {
  MAX_REPORTED_RUNS,
  type ReportedError,
  type RunReport,
  reportedOutcomes,
} from "../../core/platform-contract.ts";
import { placeOf } from "../../events/own.ts";
import { notFound } from "../error.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { type Answer, jsonAnswer } from "../http/answer.ts";
import { readJson, validate } from "../http/body.ts";
import { type Incoming, type Route, Routes } from "../http/routes.ts";
import type { Store } from "../store/store.ts";
import type { EntryOf, Timeline } from "../timeline/timeline.ts";
import { RequestToken } from "../token.ts";

/** Maximum length of a reported text, in characters. */
const MAX_LENGTH = 10_000;

/** In characters. The id of a cron event contains the cron's name, which may have 100 characters. */
const MAX_ID_LENGTH = 1_000;

const text = z.string().max(MAX_LENGTH);
const span = z.number().min(0);

const reportedError: z.ZodType<ReportedError> = z.object({
  type: text,
  code: text.optional(),
  message: text,
  stack: text.optional(),
});

const runReport: z.ZodType<RunReport> = z.object({
  eventId: z.string().max(MAX_ID_LENGTH),
  attempt: z.number().int().min(1),
  outcome: z.enum(reportedOutcomes),
  conversationId: text.optional(),
  postId: text.optional(),
  ms: span,
  retryInMs: span.optional(),
  error: reportedError.optional(),
});

const runsBody: z.ZodType<{ runs: RunReport[]; url?: string | undefined }> = z.object({
  runs: z.array(runReport).max(MAX_REPORTED_RUNS),
  url: text.optional(),
});

const routes: Routes<Route> = new Routes([{ method: "POST", path: "/" }]);

export interface BotAddress {
  readonly url: string;
  /** The only token that the platform sends to this URL, because the bot has already proved that it knows the token. */
  readonly apiKey: string;
}

export interface RunReportsOptions {
  readonly world: () => { readonly store: Store; readonly shown: ShownEvents };
  readonly timeline: Timeline;
}

/** Returns the URL's origin if the URL is on this machine, otherwise `undefined`. */
function originHere(url: string): string | undefined {
  const target = URL.parse(url);
  const isHere = target?.protocol === "http:" && isLoopback(target.hostname);
  return isHere ? target.origin : undefined;
}

export class RunReports {
  readonly #options: RunReportsOptions;
  readonly #bots = new Map<string, BotAddress | undefined>();

  constructor(options: RunReportsOptions) {
    this.#options = options;
  }

  get bots(): readonly string[] {
    return [...this.#bots.keys()];
  }

  addressOf(username: string): BotAddress | undefined {
    return this.#bots.get(username);
  }

  async answer({ request, method, path }: Incoming): Promise<Answer> {
    if (routes.find(method, path) === undefined) throw notFound("page");
    const { tokens, people } = this.#options.world().store;
    const token = new RequestToken(tokens, request);
    const { bot } = token.authenticate();
    const { apiKey } = token;
    const { runs, url } = validate(runsBody, await readJson(request));
    const user = people.get(bot);
    const origin = url === undefined ? undefined : originHere(url);
    const isKnown = apiKey !== undefined && origin !== undefined;
    this.#bots.set(user.username, isKnown ? { url: origin, apiKey } : undefined);
    const accepted = this.#accept(user, runs);
    return jsonAnswer(200, JSON.stringify({ accepted }));
  }

  /** Returns the event's runs that are still in the timeline, oldest first. */
  of(eventId: string, bot: string): EntryOf<"run">[] {
    const runs = this.#options.timeline.after(0).filter((entry) => entry.kind === "run");
    return runs.filter((run) => run.eventId === eventId && run.bot === bot);
  }

  /**
   * Records a bot's runs and returns their number. Ignores a run whose event is not in the bot's log, because the state
   * may have been replaced.
   */
  #accept(bot: { readonly seq: number; readonly username: string }, runs: RunReport[]): number {
    const { world, timeline } = this.#options;
    const { shown } = world();
    const known = runs.filter((run) => shown.recognize(bot.seq, run.eventId, placeOf(run)));
    for (const run of known) timeline.add({ kind: "run", bot: bot.username, ...run });
    return known.length;
  }
}
