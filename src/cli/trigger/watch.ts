import { mentionsIn } from "../../platform/events/mentions.ts";
import type { ActInput, ActResult, Created, EntryOf, TimelineEntry } from "../../platform/types.ts";
import { plainUsername } from "../../platform/username.ts";
import { placeAt, placesIn, placesOf } from "./places.ts";
import { AnswerQueue } from "./queue.ts";

/** Something that a bot wrote. */
export type Answer = EntryOf<"api">;

/** A run of the bot's handlers, as the bot has reported it. */
export type Run = EntryOf<"run">;

const wordTypes = ["dm.message", "mention", "comment", "reply", "post"];

/** True for a type that bots rarely answer: that they take it is all that can be relied on. */
export function isQuiet(type: string): boolean {
  return !wordTypes.includes(type);
}

/** An act, and what the platform says of it. */
export interface Happened {
  readonly act: ActInput;
  readonly result: ActResult;
  /** Usernames of the bots that report their runs. */
  readonly reportingBots?: readonly string[];
}

/**
 * What a bot has not answered for this long, in milliseconds, it leaves without an answer: what it writes
 * now is for what has happened since.
 */
const FORGOTTEN_MS = 3_000;

/** Picks from the timeline what belongs to one act. It wants some entries from before the act, too. */
export class Watch {
  readonly #act: ActInput;
  readonly #places: ReadonlySet<string>;
  readonly #ids: ReadonlySet<string>;
  /** The events that no bot has taken yet. */
  readonly #open: Set<string>;
  /** The events whose handlers have not ended yet, by what the bots report. */
  readonly #unfinished: Set<string>;
  readonly #reporting: Set<string>;
  #failedRun: Run | undefined;
  /** By event, its last run if that was put off. */
  readonly #putOff = new Map<string, Run>();
  /** The bots concerned; what others write is no answer. */
  readonly #bots = new Set<string>();
  readonly #queue = new AnswerQueue();
  readonly #answers: Answer[] = [];
  /** Written in the right place after the act, when something earlier was waiting for an answer. */
  readonly #doubtful: Answer[] = [];

  constructor({ act, result, reportingBots = [] }: Happened) {
    this.#act = act;
    this.#places = placesOf(result);
    this.#ids = new Set(result.events.map(({ id }) => id));
    this.#open = new Set(this.#ids);
    this.#unfinished = new Set(this.#ids);
    this.#reporting = new Set(reportingBots);
  }

  /** True once all events were taken. */
  get taken(): boolean {
    return this.#open.size === 0;
  }

  /** True if every bot concerned reports its runs: then the wait need not be guessed. */
  get isReporting(): boolean {
    return this.#bots.size > 0 && [...this.#bots].every((bot) => this.#reporting.has(bot));
  }

  /** True once the bots have reported all events as done. */
  get isHandled(): boolean {
    return this.isReporting && this.#unfinished.size === 0;
  }

  /** The first run that failed; `undefined` if none did. A run that is put off has not failed. */
  get failedRun(): Run | undefined {
    return this.#failedRun;
  }

  /** The last run of an event that is put off and not done yet; `undefined` if there is none. */
  get putOffRun(): Run | undefined {
    return [...this.#putOff.values()].at(-1);
  }

  /** What the bot wrote, oldest first. */
  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /**
   * The same when the wait is over: what seemed to be for an earlier event is for this one, unless this is one
   * that bots rarely answer.
   */
  get likelyAnswers(): readonly Answer[] {
    if (isQuiet(this.#act.type)) return this.#answers;
    return [...this.#answers, ...this.#doubtful].sort((a, b) => a.seq - b.seq);
  }

  see(entry: TimelineEntry): void {
    if (entry.kind === "event") this.#happened(entry);
    else if (entry.kind === "run") this.#ran(entry);
    else if (entry.kind === "delivery" && entry.error === undefined) this.#take(entry.eventIds);
    else if (entry.kind === "api") {
      if (entry.status === 200) this.#take(entry.eventIds ?? []);
      if (entry.created !== undefined) this.#written(entry, entry.created);
    }
  }

  #happened(entry: EntryOf<"event">): void {
    const { id, type, bot } = entry;
    const at = Date.parse(entry.at);
    const event = { id, at, quiet: isQuiet(type) };
    if (!this.#ids.has(id)) {
      this.#queue.add(
        event,
        placesIn(entry).map((place) => placeAt(bot, place)),
      );
      return;
    }
    const to = this.#act.to === undefined ? bot : plainUsername(this.#act.to);
    // A text may mention another bot as well, of which nothing is awaited.
    if (bot !== to) {
      this.#open.delete(id);
      this.#unfinished.delete(id);
      return;
    }
    this.#bots.add(bot);
    this.#queue.drop((other) => !this.#ids.has(other.id) && other.at < at - FORGOTTEN_MS);
    this.#queue.add(
      event,
      [...this.#places].map((place) => placeAt(bot, place)),
    );
  }

  #ran(run: Run): void {
    const { eventId, bot, outcome } = run;
    if (!this.#ids.has(eventId) || !this.#bots.has(bot)) return;
    this.#reporting.add(bot);
    this.#open.delete(eventId);
    this.#putOff.delete(eventId);
    if (outcome === "done") this.#unfinished.delete(eventId);
    else if (outcome === "released") this.#putOff.set(eventId, run);
    else this.#failedRun ??= run;
  }

  #take(eventIds: readonly string[]): void {
    for (const id of eventIds) this.#open.delete(id);
  }

  #written(entry: Answer, created: Created): void {
    const { bot, eventId, guessed } = entry;
    if (eventId !== undefined && guessed !== true) {
      // The bot says what it answers.
      this.#queue.drop(({ id }) => id === eventId);
      if (this.#ids.has(eventId) && this.#bots.has(bot ?? "")) this.#answers.push(entry);
      return;
    }
    if (this.#places.size === 0) {
      // What has no place is answered where the bot likes, by name.
      if (!this.#bots.has(bot ?? "") || !mentions(entry.text ?? "", this.#act.from)) return;
      this.#answers.push(entry);
      return;
    }
    for (const place of placesIn(created)) {
      const event = this.#queue.take(placeAt(bot, place));
      if (event === undefined) continue;
      if (this.#ids.has(event.id)) this.#answers.push(entry);
      else if (this.#bots.has(bot ?? "") && this.#places.has(place)) this.#doubtful.push(entry);
    }
  }
}

function mentions(text: string, username: string): boolean {
  return mentionsIn(text).has(plainUsername(username));
}
