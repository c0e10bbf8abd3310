import type { LoopGuardOptions } from "../core/job.ts";
import type { Logger } from "../core/logger.ts";
import { LoopHeld } from "../errors.ts";
import { actorOf, foldUsername } from "../events/actor.ts";
import { defaultLane } from "../events/lane.ts";
import type { AnyEvent } from "../events/types.ts";

/** No person writes 30 messages a minute for long; two bots write thousands. */
export const LOOP_GUARD: Required<LoopGuardOptions> = { answers: 30, perMs: 60_000 };

/** Places that are remembered. The ones that were answered longest ago are forgotten first. */
const MAX_PLACES = 10_000;

/** An episode ends after this many windows without an event held back. */
const CALM_WINDOWS = 10;

/** One account in one conversation, or on one post. Times are ms since 1970 on the platform's clock. */
interface Place {
  /** Creation times of the latest answered events, by event id. */
  readonly answered: Map<string, number>;
  /** `undefined` if nothing was held back yet. */
  heldUntil: number | undefined;
  usedAt: number;
}

/**
 * Holds back events of an account that is answered faster than a person writes, because two bots answer each other for
 * ever. Answers are counted by the time at which the answered event was created: a bot that catches up after an outage is
 * not slowed. Counts live in memory, in each process.
 */
export class LoopGuard {
  readonly #options: Required<LoopGuardOptions>;
  readonly #now: () => number;
  /** By account and place; the one that was used last is the last. */
  readonly #places = new Map<string, Place>();

  /** @param now ms since 1970 on the platform's clock */
  constructor(options: LoopGuardOptions, now: () => number) {
    this.#options = { ...LOOP_GUARD, ...options };
    this.#now = now;
  }

  /** @throws {RetryLater} while the account of this event was answered too often here; the attempt does not count */
  check(event: AnyEvent, log: () => Logger): void {
    const place = this.#places.get(keyOf(event) ?? "");
    if (place === undefined || place.answered.has(event.id)) return;
    const { answers, perMs } = this.#options;
    if (place.answered.size < answers) return;
    const now = this.#now();
    const waitMs = Math.min(...place.answered.values()) + perMs - now;
    if (waitMs <= 0) return;
    const calmSince = (place.heldUntil ?? Number.NEGATIVE_INFINITY) + CALM_WINDOWS * perMs;
    if (calmSince < now) {
      const logger = log();
      logger.warn({ retryInMs: waitMs }, "answers are held back: more than a person causes");
    }
    place.heldUntil = now + waitMs;
    throw new LoopHeld(waitMs);
  }

  /** Counts an event that was answered; several answers to one event count once. */
  noteAnswer(event: AnyEvent): void {
    const key = keyOf(event);
    if (key === undefined) return;
    const now = this.#now();
    const place = this.#places.get(key) ?? {
      answered: new Map(),
      heldUntil: undefined,
      usedAt: now,
    };
    place.usedAt = now;
    // The last place is the one that was used last.
    this.#places.delete(key);
    this.#places.set(key, place);
    const createdAt = Date.parse(event.createdAt);
    place.answered.set(event.id, Number.isNaN(createdAt) ? now : Math.min(createdAt, now));
    if (place.answered.size > this.#options.answers) forgetOldest(place.answered);
    this.#forgetPlaces(now);
  }

  #forgetPlaces(now: number): void {
    const unusedSince = now - CALM_WINDOWS * this.#options.perMs;
    for (const [key, { usedAt }] of this.#places) {
      if (usedAt >= unusedSince && this.#places.size <= MAX_PLACES) return;
      this.#places.delete(key);
    }
  }
}

/** `undefined` for an event without an account: no reply can cause it again. */
function keyOf(event: AnyEvent): string | undefined {
  const actor = actorOf(event);
  return actor && JSON.stringify([defaultLane(event), foldUsername(actor)]);
}

function forgetOldest(answered: Map<string, number>): void {
  const oldest = Math.min(...answered.values());
  for (const [id, at] of answered) {
    if (at === oldest) return void answered.delete(id);
  }
}
