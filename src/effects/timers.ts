import { randomUUID } from "node:crypto";
import { toLosslessJson } from "../core/lossless-json.ts";
import { readWhen, type When } from "../core/span.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import { type TimerPayload, timerPayload, timerType } from "../events/own.ts";
import type { AnyEvent } from "../events/types.ts";
import type { NewTimer, TimerName } from "../inbox/effects.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";

/** In bytes of JSON. */
const MAX_DATA_BYTES = 64 * 1024;

export interface TimersOptions {
  readonly event: AnyEvent;
  readonly claim: Claim;
  readonly inbox: Pick<Inbox, "timers">;
  /** The time of day, in ms since 1970. */
  readonly now: () => number;
  /** Returns whether a run that the inbox does not know may have handled the event. Default: never. */
  readonly isInDoubt?: (() => boolean) | undefined;
}

/** A timer to set, as a handler asked for it. */
interface TimerRequest {
  readonly name: string;
  readonly key: string;
  readonly when: When;
  readonly body: string;
}

/** Timers that one run sets and cancels. */
export class Timers {
  readonly #options: TimersOptions;
  /** By name and key. */
  readonly #set = new Map<string, TimerRequest>();
  readonly #cancelled = new Map<string, TimerName>();
  /** Timers without a key of their own. */
  #unnamed = 0;

  constructor(options: TimersOptions) {
    this.#options = options;
  }

  /** @throws {ServiceBotError} INVALID_OPTION */
  set(name: string, when: When, data: unknown, key: string = this.#nextKey()): string {
    // A moment is measured again when the run has ended; a mistake shows now.
    readWhen(when, this.#options.now(), "The time of a timer");
    const body = timerBody(this.#options, { name, key, data });
    // The caller may change its Date before the run ends.
    const copy = when instanceof Date ? new Date(when) : when;
    this.#set.set(idOf(name, key), { name, key, when: copy, body });
    return key;
  }

  /** Cancels a timer, or all of that name. Resolves to their number, with those that this run has set. */
  async cancel(name: string, key: string | undefined): Promise<number> {
    const { inbox, claim } = this.#options;
    const { lane } = claim;
    const stored = await inbox.timers({ lane, name, key });
    const fresh = [...this.#set.values()].filter(
      (timer) => timer.name === name && (key === undefined || timer.key === key),
    );
    const found = new Set([...stored, ...fresh].map((timer) => idOf(name, timer.key)));
    let count = 0;
    for (const id of found) {
      // A timer that this run has cancelled before is in the store until the run ends.
      if (this.#set.delete(id) || !this.#isCancelled(name, id)) count += 1;
    }
    if (stored.length > 0) this.#cancelled.set(idOf(name, key), { lane, name, key });
    return count;
  }

  get cancels(): readonly TimerName[] {
    return [...this.#cancelled.values()];
  }

  /** Returns the timers to set, with their times from now on. */
  get timers(): readonly NewTimer[] {
    const { claim, now } = this.#options;
    return [...this.#set.values()].map(({ name, key, when, body }) => ({
      lane: claim.lane,
      ...{ name, key, body },
      delayMs: readWhen(when, now(), name),
      // Not the id of the setting event, because a timer may set timers without end, and ids must not grow.
      eventId: `${timerType(name)}:${randomUUID()}`,
    }));
  }

  #isCancelled(name: string, id: string): boolean {
    return this.#cancelled.has(id) || this.#cancelled.has(idOf(name, undefined));
  }

  /** Numbered like the replies of a run, so that a later run replaces what an earlier one has set. */
  #nextKey(): string {
    this.#unnamed += 1;
    return `${this.#options.claim.id}/${this.#unnamed}`;
  }
}

function idOf(name: string, key: string | undefined): string {
  return JSON.stringify([name, key]);
}

function timerBody(
  { event, isInDoubt = () => false }: TimersOptions,
  { name, key, data }: Pick<TimerPayload, "name" | "key" | "data">,
): string {
  try {
    const json = toLosslessJson(data) ?? "null";
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_DATA_BYTES) {
      throw new RangeError(`it has ${bytes} bytes; the limit is ${MAX_DATA_BYTES}`);
    }
    const payload = timerPayload(event, { name, key, data: JSON.parse(json) }, isInDoubt());
    return JSON.stringify(payload);
  } catch (error) {
    throw new ServiceBotError(
      "INVALID_OPTION",
      `Cannot store the data of the timer "${name}": ${messageOf(error)}.`,
    );
  }
}
