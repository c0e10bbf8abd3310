import * as z from "zod";
import { isLoopback } from "../../core/addresses.ts";
import { appNamed } from "../accounts.ts";
import { PlatformError } from "../error.ts";
import { findEvent } from "../events/shown-events.ts";
import type { Schemas } from "../http/body.ts";
import { badCursor, type Page } from "../http/query.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ANSWER_TIMEOUT_MS, type BotQuestion, MAX_TOKENS, parse, textOf, why } from "./bot-view.ts";

/** An event in the bot's inbox, with the steps of its handler. */
export interface InboxView {
  readonly id: string;
  readonly state: "pending" | "done" | "dead" | "discarded";
  /** Number of runs that count towards the attempt limit. */
  readonly attempts: number;
  readonly steps: readonly {
    readonly name: string;
    readonly state: "open" | "done";
    readonly request: string;
    /** Time when the step began, in ms since 1970 on the bot's clock. */
    readonly startedAt: number;
    /** Id of the content that the step created. Absent if it created none, or while the step is open. */
    readonly ref?: string;
  }[];
}

/** A bot's stored state. */
export interface StateView {
  readonly key: string;
  /** Size of the state as JSON, in bytes. */
  readonly bytes: number;
  /** The state as JSON, truncated to 4,000 characters. */
  readonly value: string;
  /** ISO 8601, UTC. */
  readonly updatedAt: string;
}

/** A bot's pending timer. */
export interface TimerView {
  /** Lane of the handler that set the timer: `dm:<conversation>` or `post:<post>`. */
  readonly lane: string;
  readonly name: string;
  readonly key: string;
  /** ISO 8601, UTC. */
  readonly dueAt: string;
}

/** A bot's cron schedule. Times are ISO 8601, UTC. */
export interface CronView {
  readonly name: string;
  readonly pattern: string;
  readonly timeZone: string;
  /** Runs that the bot catches up on after downtime: the last missed one, or none. */
  readonly missed: "last" | "none";
  /** `null` if the cron will never run again. */
  readonly nextAt: string | null;
  /** The last run's event. `null` if the inbox no longer has the event. */
  readonly last: (Pick<InboxView, "id" | "state"> & { readonly at: string }) | null;
}

/** Action on an event in a bot's inbox. */
export type InboxDecision = "retry" | "discard";

/** Filter for a bot's states. */
export interface StatesInput {
  /** Key prefix. */
  readonly prefix?: string | undefined;
  /** The previous page's `nextCursor`. */
  readonly cursor?: string | undefined;
}

/** Filter for a bot's timers. */
export interface TimersInput {
  /** Exact lane of the handlers that set the timers. */
  readonly lane?: string | undefined;
  /** The previous page's `nextCursor`. */
  readonly cursor?: string | undefined;
}

/** Selects one timer, or all timers with a lane and name. */
export interface TimersToFire {
  readonly lane: string;
  readonly name: string;
  readonly key?: string | undefined;
}

/** In characters. These names become part of the URL of a request to the bot, which is limited to 16 KB. */
const timerText = z.string().max(1_000);

const timersToFire: z.ZodType<TimersToFire> = z.strictObject({
  lane: timerText,
  name: timerText,
  key: timerText.optional(),
});

export const inboxSchemas: Schemas<BotInboxes> = {
  decide: { decision: z.enum(["retry", "discard"]) },
  fireTimers: { input: timersToFire },
};

export interface BotInboxesOptions {
  readonly store: () => Store;
  readonly timeline: Timeline;
  readonly questionTo: (bot: User) => BotQuestion;
}

/** Access to the bots' inboxes. Each method takes a bot's username. Default: the first bot. */
export class BotInboxes {
  readonly #options: BotInboxesOptions;

  /** @internal */
  constructor(options: BotInboxesOptions) {
    this.#options = options;
  }

  /**
   * Returns an event from its bot's inbox: state, attempts and steps.
   *
   * @param bot username; needed only if several bots have a timer or cron event with this id
   * @throws {PlatformError} 404 NOT_FOUND; 409 BOT_UNREACHABLE, BOT_REFUSED; 400 VALIDATION if several bots have the
   * event and `bot` is missing
   */
  async event(id: string, bot?: string): Promise<InboxView> {
    return await this.#ask(this.#recipientOf(id, bot), { path: ["inbox", id] });
  }

  /**
   * Makes the bot retry a dead letter or permanently discard an event, as `service-bot inbox` does.
   *
   * @param bot see {@link event}
   * @throws {PlatformError} as for {@link event}
   */
  async decide(id: string, decision: InboxDecision, bot?: string): Promise<InboxView> {
    const user = this.#recipientOf(id, bot);
    const path = ["inbox", id, decision];
    const view = await this.#ask<InboxView>(user, { method: "POST", path });
    const change = decision === "retry" ? "retried" : "discarded";
    this.#options.timeline.add({ kind: "inbox", bot: user.username, eventId: id, change });
    return view;
  }

  /**
   * Lists a bot's states sorted by key, 50 per page.
   *
   * @param input `prefix`: key prefix
   * @throws {PlatformError} as for {@link event}; 400 VALIDATION for an invalid cursor
   */
  async states(input: StatesInput = {}, bot?: string): Promise<Page<StateView>> {
    return await this.#ask(this.#botOf(bot), { path: ["states"], query: { ...input } });
  }

  /**
   * Lists a bot's timers, 50 per page. The timer that is due next comes first.
   *
   * @param input `lane`: exact lane of the handlers that set the timers
   * @throws {PlatformError} as for {@link event}; 400 VALIDATION for an invalid cursor
   */
  async timers(input: TimersInput = {}, bot?: string): Promise<Page<TimerView>> {
    return await this.#ask(this.#botOf(bot), { path: ["timers"], query: { ...input } });
  }

  /**
   * Makes timers due now: one timer, or all timers with the given lane and name. Each timer becomes an event in the
   * bot's inbox.
   *
   * @throws {PlatformError} as for {@link event}
   */
  async fireTimers(input: TimersToFire, bot?: string): Promise<{ readonly fired: number }> {
    const path = ["timers", "fire"];
    return await this.#ask(this.#botOf(bot), { method: "POST", path, query: { ...input } });
  }

  /**
   * Lists a bot's cron schedules.
   *
   * @throws {PlatformError} as for {@link event}
   */
  async crons(bot?: string): Promise<{ readonly items: readonly CronView[] }> {
    return await this.#ask(this.#botOf(bot), { path: ["crons"] });
  }

  /**
   * Runs a cron now. Its next scheduled run does not change.
   *
   * @throws {PlatformError} as for {@link event}
   */
  async fireCron(name: string, bot?: string): Promise<{ readonly eventId: string }> {
    return await this.#ask(this.#botOf(bot), { method: "POST", path: ["crons", name, "fire"] });
  }

  #ask<T>(user: User, operation: LocalOperation): Promise<T> {
    return askInbox<T>(this.#options.questionTo(user), operation);
  }

  #botOf(username: string | undefined): User {
    return appNamed(this.#options.store(), username);
  }

  #recipientOf(id: string, bot: string | undefined): User {
    const store = this.#options.store();
    return appNamed(store, findEvent(store, this.#options.timeline, id, bot).bot);
  }
}

interface LocalOperation {
  readonly method?: "POST";
  /** Unencoded path segments. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/**
 * Sends a request to a bot's inbox. A bot built with this library serves its inbox only to a platform that runs on the
 * same machine and sends the bot's token.
 *
 * @throws {PlatformError} 404 NOT_FOUND; 409 BOT_UNREACHABLE, BOT_REFUSED
 */
async function askInbox<T = InboxView>(
  { address, apiKeys, signal, fetch: send = fetch, timeoutMs = ANSWER_TIMEOUT_MS }: BotQuestion,
  { method, path, query = {} }: LocalOperation,
): Promise<T> {
  if (address === null || !isLoopback(new URL(address).hostname)) throw unreachable(UNKNOWN_PLACE);
  const target = new URL(["/local/v1", ...path.map(encodeURIComponent)].join("/"), address);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) target.searchParams.set(name, value);
  }
  const init = {
    method: method ?? "GET",
    redirect: "manual",
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]),
  } as const;
  for (const token of apiKeys.slice(0, MAX_TOKENS)) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await answerOf(() => send(new Request(target, { ...init, headers })), target);
    const body = parse(await textOf(answer));
    if (answer.ok) return body as T;
    const { code, message }: { code?: unknown; message?: unknown } = Object(body["error"]);
    if (code === "EVENT_NOT_FOUND") throw new PlatformError(404, "NOT_FOUND", String(message));
    if (code === "CURSOR_INVALID") throw badCursor();
    if (code !== "NOT_FOUND") {
      const reason = message ?? `The bot responded with ${answer.status} and no reason.`;
      throw new PlatformError(409, "BOT_REFUSED", String(reason));
    }
  }
  throw unreachable(NO_INBOX);
}

/** @throws {PlatformError} 409 BOT_UNREACHABLE */
async function answerOf(ask: () => Promise<Response>, target: URL): Promise<Response> {
  try {
    return await ask();
  } catch (error) {
    throw unreachable(why(error, target));
  }
}

const UNKNOWN_PLACE =
  "The platform does not know the bot's URL on this machine. Run `npx service-bot inbox` in the bot's folder.";

const NO_INBOX =
  "The bot does not serve its inbox. In an Express app, mount bot.middleware() at the root. Another app must pass /local/v1/* on to bot.handle(). Or run `npx service-bot inbox` in the bot's folder.";

function unreachable(message: string): PlatformError {
  return new PlatformError(409, "BOT_UNREACHABLE", message);
}
