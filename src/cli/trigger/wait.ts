import { mentionsIn } from "../../platform/events/content.ts";
import type { ActInput, TimelineEntry } from "../../platform/index.ts";
import { plainUsername } from "../../platform/input-rules.ts";
import type { ActResult, EntryOf } from "../../platform/types.ts";
import type { ControlClient } from "../control.ts";

/** A request by which a bot wrote something. */
export type Answer = EntryOf<"api">;

/** A run of the bot's handlers, as the bot has reported it. */
export type Run = EntryOf<"run">;

/**
 * `answered`: the bot has written as often as something happened. `handled`: the bot has reported all events as done.
 * `failed`: the bot has reported a run that failed. `delivered`: the bot has taken the events, by the webhook or from the
 * log. `none`: the bot has not taken all of them.
 */
export type Outcome = "answered" | "handled" | "failed" | "delivered" | "none";

export interface Reaction {
  readonly outcome: Outcome;
  /** Everything that the bot wrote, oldest first. */
  readonly answers: readonly Answer[];
  /** The first run that failed, otherwise the last one that is put off. Absent if neither was reported. */
  readonly run?: Run | undefined;
  /** True if the bot reports its runs, and has not reported all of them in time. */
  readonly isUnfinished?: boolean;
}

/** An act, and the wait for what the bot does about it. */
export interface Awaited {
  readonly act: ActInput;
  readonly result: ActResult;
  /** Usernames of the bots that report their runs. */
  readonly reportingBots: readonly string[];
  /** The newest timeline entry from before the act. */
  readonly after: number;
  readonly timeoutMs: number;
}

/** In ms. The longest wait that one request for the timeline may ask for. */
const MAX_POLL_MS = 30_000;

/** In ms. A bot that reports nothing has this long to answer what bots rarely answer. */
const QUIET_TIMEOUT_MS = 2_000;

const wordTypes = ["dm.message", "mention", "comment", "reply", "post"];

/** True for a type that bots rarely answer: a delivery is all that can be relied on. */
export function isQuiet(type: string): boolean {
  return !wordTypes.includes(type);
}

/**
 * Waits until the bot has done what can be expected of it, or until the time is over. Returns at once if no bot is
 * concerned.
 */
export async function awaitReaction(
  control: Pick<ControlClient, "timeline">,
  awaited: Awaited,
): Promise<Reaction> {
  const { act, result, timeoutMs } = awaited;
  if (result.events.length === 0) return { outcome: "none", answers: [] };
  const watch = new Watch(awaited);
  let after = awaited.after;
  let until = performance.now() + timeoutMs;
  let isHurried = false;
  for (let left = timeoutMs; left > 0; left = until - performance.now()) {
    const page = await control.timeline(after, Math.min(left, MAX_POLL_MS));
    after = page.last;
    for (const entry of page.entries) watch.see(entry);
    const end = watch.end();
    if (end !== undefined) return end;
    if (watch.isReporting || isHurried || !watch.isTaken || !isQuiet(act.type)) continue;
    isHurried = true;
    until = Math.min(until, performance.now() + QUIET_TIMEOUT_MS);
  }
  return watch.timeOut();
}

/** Finds in the timeline what the bots concerned do about one act. */
class Watch {
  readonly #act: ActInput;
  readonly #ids: ReadonlySet<string>;
  /** Ids of the conversations and posts concerned. */
  readonly #places: ReadonlySet<string>;
  readonly #reporting: Set<string>;
  /** The bots concerned. */
  readonly #bots = new Set<string>();
  /** Events that no bot has taken. */
  readonly #untaken: Set<string>;
  /** Events that no bot has reported as done. */
  readonly #undone: Set<string>;
  readonly #answers: Answer[] = [];
  #failedRun: Run | undefined;
  /** The last run of an event that is put off, by the id of the event. */
  readonly #putOff = new Map<string, Run>();

  constructor({ act, result, reportingBots }: Awaited) {
    this.#act = act;
    this.#ids = new Set(result.events.map(({ id }) => id));
    this.#places = placesOf(result);
    this.#reporting = new Set(reportingBots);
    this.#untaken = new Set(this.#ids);
    this.#undone = new Set(this.#ids);
  }

  get isTaken(): boolean {
    return this.#untaken.size === 0;
  }

  /** True if every bot concerned reports its runs. */
  get isReporting(): boolean {
    return this.#bots.size > 0 && [...this.#bots].every((bot) => this.#reporting.has(bot));
  }

  /** Returns the end of the wait; `undefined` if the wait goes on. */
  end(): Reaction | undefined {
    const answers = this.#answers;
    if (this.#failedRun) return { outcome: "failed", answers, run: this.#failedRun };
    // A handler that has answered can still fail.
    if (this.isReporting && this.#undone.size > 0) return undefined;
    if (answers.length >= (this.#act.count ?? 1)) return { outcome: "answered", answers };
    return this.isReporting ? { outcome: "handled", answers } : undefined;
  }

  /** Returns what there is when the time is over. */
  timeOut(): Reaction {
    return {
      outcome: this.isTaken ? "delivered" : "none",
      answers: this.#answers,
      run: [...this.#putOff.values()].at(-1),
      isUnfinished: this.isReporting,
    };
  }

  see(entry: TimelineEntry): void {
    if (entry.kind === "event") this.#seeEvent(entry);
    else if (entry.kind === "run") this.#seeRun(entry);
    else if (entry.kind === "delivery" && entry.error === undefined) this.#take(entry.eventIds);
    else if (entry.kind === "api") {
      if (entry.status === 200) this.#take(entry.eventIds ?? []);
      if (entry.created !== undefined && this.#isAnswer(entry)) this.#answers.push(entry);
    }
  }

  #seeEvent({ id, bot }: EntryOf<"event">): void {
    if (!this.#ids.has(id)) return;
    const to = this.#act.to === undefined ? bot : plainUsername(this.#act.to);
    if (bot === to) {
      this.#bots.add(bot);
      return;
    }
    // A text may mention another bot as well, of which nothing is awaited.
    this.#take([id]);
    this.#undone.delete(id);
  }

  #seeRun(run: Run): void {
    const { eventId, bot, outcome } = run;
    if (!this.#ids.has(eventId) || !this.#bots.has(bot)) return;
    this.#reporting.add(bot);
    this.#take([eventId]);
    this.#putOff.delete(eventId);
    if (outcome === "done") this.#undone.delete(eventId);
    else if (outcome === "released") this.#putOff.set(eventId, run);
    else this.#failedRun ??= run;
  }

  #take(eventIds: readonly string[]): void {
    for (const id of eventIds) this.#untaken.delete(id);
  }

  /** A bot on this library names the event that it answers. For any other bot the place decides. */
  #isAnswer({ bot = "", eventId, guessed, created = {}, text = "" }: Answer): boolean {
    if (!this.#bots.has(bot)) return false;
    if (eventId !== undefined && guessed !== true) return this.#ids.has(eventId);
    if (this.#places.size > 0) return idsIn(created).some((id) => this.#places.has(id));
    // An event without a place, such as a follow, is answered anywhere, by name.
    return mentionsIn(text).has(plainUsername(this.#act.from));
  }
}

function placesOf({ events, conversationId, postId }: ActResult): ReadonlySet<string> {
  const places = events.flatMap(({ payload }) => {
    const named: Readonly<Record<string, unknown>> = { ...payload };
    const { conversationId, postId, entityType, entityId } = named;
    // The post that quotes is a place as much as the quoted one.
    const quoting = entityType === "post" ? entityId : undefined;
    return [...idsIn({ conversationId, postId }), ...idsIn({ postId: quoting })];
  });
  return new Set([...places, ...idsIn({ conversationId, postId })]);
}

/** Ids may come from a payload of any shape. */
function idsIn({
  conversationId,
  postId,
}: {
  readonly conversationId?: unknown;
  readonly postId?: unknown;
}): string[] {
  return [conversationId, postId].filter((id) => typeof id === "string").filter((id) => id !== "");
}
