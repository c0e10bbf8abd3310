import type { RemoteControl } from "../../platform/control/client.ts";
import { mentionsIn } from "../../platform/events/content.ts";
import type { ActInput, TimelineEntry } from "../../platform/index.ts";
import { plainUsername } from "../../platform/input-rules.ts";
import type { ActResult, EntryOf } from "../../platform/types.ts";

export type Answer = EntryOf<"api">;

export type Run = EntryOf<"run">;

/**
 * `answered`: the bot has written at least once per event. `handled`: the bot has reported all events as done.
 * `failed`: the bot has reported a failed run. `delivered`: the bot has received the events by webhook or polling.
 * `none`: the bot has not received all events.
 */
export type ReactionOutcome = "answered" | "handled" | "failed" | "delivered" | "none";

export interface Reaction {
  readonly outcome: ReactionOutcome;
  readonly answers: readonly Answer[];
  /** The first failed run, or the last postponed run if none failed. Absent if the bot reported neither. */
  readonly run?: Run | undefined;
  /** True if the bot reports its runs, but did not report all of them in time. */
  readonly isUnfinished?: boolean;
  /** Error from the last failed delivery. Absent if the bot has received the events. */
  readonly deliveryError?: string | undefined;
}

export interface WaitInput {
  readonly act: ActInput;
  readonly result: ActResult;
  readonly reportingBots: readonly string[];
  readonly after: number;
  readonly timeoutMs: number;
}

/** Longest time one timeline request may wait, in ms. */
const MAX_POLL_MS = 30_000;

/** Time that a bot without run reports has to reply to a quiet event type, in ms. */
const QUIET_TIMEOUT_MS = 2_000;

const wordTypes = ["dm.message", "mention", "comment", "reply", "post"];

/** Returns true if bots rarely reply to events of this type. Their delivery is then the only reliable sign. */
export function isQuiet(type: string): boolean {
  return !wordTypes.includes(type);
}

/**
 * Waits until the bot has handled the event, or until the timeout. Returns immediately if the event concerns no bot.
 */
export async function awaitReaction(
  control: Pick<RemoteControl, "timeline">,
  awaited: WaitInput,
): Promise<Reaction> {
  const { act, result, timeoutMs } = awaited;
  if (result.events.length === 0) return { outcome: "none", answers: [] };
  const watch = new Watch(awaited);
  let after = awaited.after;
  let until = performance.now() + timeoutMs;
  let isHurried = false;
  for (let left = timeoutMs; left > 0; left = until - performance.now()) {
    const page = await control.timeline(after, Math.ceil(Math.min(left, MAX_POLL_MS)));
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

class Watch {
  readonly #act: ActInput;
  readonly #ids: ReadonlySet<string>;
  readonly #places: ReadonlySet<string>;
  readonly #reporting: Set<string>;
  readonly #bots = new Set<string>();
  readonly #untaken: Set<string>;
  readonly #undone: Set<string>;
  readonly #answers: Answer[] = [];
  #failedRun: Run | undefined;
  #deliveryError: string | undefined;
  readonly #postponed = new Map<string, Run>();

  constructor({ act, result, reportingBots }: WaitInput) {
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

  /** True if all bots that received an event report their runs. */
  get isReporting(): boolean {
    return this.#bots.size > 0 && [...this.#bots].every((bot) => this.#reporting.has(bot));
  }

  /** Returns the outcome, or `undefined` while it is open. */
  end(): Reaction | undefined {
    const answers = this.#answers;
    if (this.#failedRun) return { outcome: "failed", answers, run: this.#failedRun };
    // A handler may fail after its reply.
    if (this.isReporting && this.#undone.size > 0) return undefined;
    if (answers.length >= (this.#act.count ?? 1)) return { outcome: "answered", answers };
    return this.isReporting ? { outcome: "handled", answers } : undefined;
  }

  timeOut(): Reaction {
    return {
      outcome: this.isTaken ? "delivered" : "none",
      answers: this.#answers,
      run: [...this.#postponed.values()].at(-1),
      isUnfinished: this.isReporting,
      deliveryError: this.isTaken ? undefined : this.#deliveryError,
    };
  }

  see(entry: TimelineEntry): void {
    if (entry.kind === "event") this.#seeEvent(entry);
    else if (entry.kind === "run") this.#seeRun(entry);
    else if (entry.kind === "delivery") this.#seeDelivery(entry);
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
    // The text may also mention another bot, which the wait ignores.
    this.#take([id]);
    this.#undone.delete(id);
  }

  #seeDelivery({ eventIds, error }: EntryOf<"delivery">): void {
    if (error === undefined) this.#take(eventIds);
    else if (eventIds.some((id) => this.#untaken.has(id))) this.#deliveryError = error;
  }

  #seeRun(run: Run): void {
    const { eventId, bot, outcome } = run;
    if (!this.#ids.has(eventId) || !this.#bots.has(bot)) return;
    this.#reporting.add(bot);
    this.#take([eventId]);
    this.#postponed.delete(eventId);
    if (outcome === "done") this.#undone.delete(eventId);
    else if (outcome === "released") this.#postponed.set(eventId, run);
    else this.#failedRun ??= run;
  }

  #take(eventIds: readonly string[]): void {
    for (const id of eventIds) this.#untaken.delete(id);
  }

  /**
   * A bot built with this library names the event that it replies to. For other bots, the conversation or post decides.
   */
  #isAnswer({ bot = "", eventId, guessed, created = {}, text = "" }: Answer): boolean {
    if (!this.#bots.has(bot)) return false;
    if (eventId !== undefined && guessed !== true) return this.#ids.has(eventId);
    if (this.#places.size > 0) return idsIn(created).some((id) => this.#places.has(id));
    // A reply to an event without a conversation or post, such as a follow, may be anywhere. It must mention the user.
    return mentionsIn(text).has(plainUsername(this.#act.from));
  }
}

function placesOf({ events, conversationId, postId }: ActResult): ReadonlySet<string> {
  const places = events.flatMap(({ payload }) => {
    const named: Readonly<Record<string, unknown>> = { ...payload };
    const { conversationId, postId, entityType, entityId } = named;
    // A quote concerns the quoted post and the new post.
    const quoting = entityType === "post" ? entityId : undefined;
    return [...idsIn({ conversationId, postId }), ...idsIn({ postId: quoting })];
  });
  return new Set([...places, ...idsIn({ conversationId, postId })]);
}

/** Ignores ids that are not strings, because a custom payload may contain anything. */
function idsIn({
  conversationId,
  postId,
}: {
  readonly conversationId?: unknown;
  readonly postId?: unknown;
}): string[] {
  return [conversationId, postId].filter((id) => typeof id === "string").filter((id) => id !== "");
}
