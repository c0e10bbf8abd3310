import { randomUUID } from "node:crypto";
import { toLosslessJson } from "../core/lossless-json.ts";
import { checkRunBytes, checkRunItems } from "../core/run-limits.ts";
import { readWhen, type When } from "../core/span.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import { timerPayload, timerType } from "../events/own.ts";
import type { AnyEvent, TimerPayload } from "../events/types.ts";
import type { NewTimer, TimerName } from "../inbox/effects.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";

/** Maximum size of a timer's data as JSON, in bytes. */
const MAX_DATA_BYTES = 64 * 1024;

export interface TimersOptions {
  readonly event: AnyEvent;
  readonly claim: Claim;
  readonly inbox: Pick<Inbox, "timers">;
  /** Returns the time of day, in ms since 1970. */
  readonly now: () => number;
  /** Returns whether a run missing from a restored inbox may have handled the event. Never, by default. */
  readonly isInDoubt?: (() => boolean) | undefined;
}

interface TimerRequest {
  readonly name: string;
  readonly key: string;
  readonly when: When;
  readonly body: string;
}

/** Timers that one run sets and cancels. */
export class Timers {
  readonly #options: TimersOptions;
  /** Timers to set, by name and key. */
  readonly #set = new Map<string, TimerRequest>();
  readonly #cancelled = new Map<string, TimerName>();
  /** Number of timers set without a key. */
  #unnamed = 0;
  #bytes = 0;

  constructor(options: TimersOptions) {
    this.#options = options;
  }

  /** Size of the timers to set, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws {ServiceBotError} INVALID_OPTION, RUN_TOO_LARGE */
  set(name: string, when: When, data: unknown, key: string = this.#nextKey()): string {
    // Reject an invalid time now. The delay itself is measured at the end of the run.
    readWhen(when, this.#options.now(), "The timer's time");
    const body = timerBody(this.#options, { name, key, data });
    // The caller may change its Date before the run ends.
    const copy = when instanceof Date ? new Date(when) : when;
    this.#add(idOf(name, key), { name, key, when: copy, body });
    return key;
  }

  /**
   * Cancels one timer, or all timers with a name. Resolves to the number of cancelled timers, including timers set by
   * this run.
   */
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
      // A timer that this run has already cancelled stays in the store until the run ends. Do not count it twice.
      if (this.#delete(id) || !this.#isCancelled(name, id)) count += 1;
    }
    if (stored.length > 0) this.#noteCancelled({ lane, name, key });
    return count;
  }

  get cancels(): readonly TimerName[] {
    return [...this.#cancelled.values()];
  }

  /** Returns the timers to set, with delays measured from now. */
  get timers(): readonly NewTimer[] {
    const { claim, now } = this.#options;
    return [...this.#set.values()].map(({ name, key, when, body }) => ({
      lane: claim.lane,
      name,
      key,
      body,
      delayMs: readWhen(when, now(), name),
      // The id is random instead of derived from the event that sets the timer. Timers can set timers endlessly, and
      // their ids must not grow.
      eventId: `${timerType(name)}:${randomUUID()}`,
    }));
  }

  #add(id: string, timer: TimerRequest): void {
    const replaced = this.#set.get(id);
    if (replaced === undefined) checkRunItems(this.#set.size + 1, "timers");
    const bytes = this.#bytes + sizeOf(timer) - (replaced === undefined ? 0 : sizeOf(replaced));
    checkRunBytes(bytes);
    this.#bytes = bytes;
    this.#set.set(id, timer);
  }

  #delete(id: string): boolean {
    const timer = this.#set.get(id);
    if (timer === undefined) return false;
    this.#bytes -= sizeOf(timer);
    return this.#set.delete(id);
  }

  #noteCancelled(timer: TimerName): void {
    const id = idOf(timer.name, timer.key);
    if (!this.#cancelled.has(id)) checkRunItems(this.#cancelled.size + 1, "cancelled timers");
    this.#cancelled.set(id, timer);
  }

  #isCancelled(name: string, id: string): boolean {
    return this.#cancelled.has(id) || this.#cancelled.has(idOf(name, undefined));
  }

  /**
   * Numbers the keys in order, as a run's replies are numbered, so that a retry replaces the timers of the earlier run.
   */
  #nextKey(): string {
    this.#unnamed += 1;
    return `${this.#options.claim.id}/${this.#unnamed}`;
  }
}

function idOf(name: string, key: string | undefined): string {
  return JSON.stringify([name, key]);
}

function sizeOf({ body }: TimerRequest): number {
  return Buffer.byteLength(body);
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
