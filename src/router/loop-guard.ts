import type { Clock } from "../core/clock.ts";
import { LoopHeld } from "../errors.ts";
import { actorOf, defaultLane, foldUsername, type LaneOf } from "../events/lane.ts";
import { originOf } from "../events/own.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Job } from "../steps/step.ts";

/**
 * Maximum rate at which a bot replies to one account. Counted per conversation, per post, and over all posts that the
 * account causes.
 */
export interface LoopGuardOptions {
  /**
   * Maximum number of an account's events that the bot replies to in one conversation or on one post within `perMs`, 1
   * to 10,000. Default 30.
   */
  readonly answers?: number;
  /** Length of the window, in ms, up to 365 days. Default 60,000. */
  readonly perMs?: number;
}

/** A human does not write 30 messages a minute for long, whereas two bots write thousands. */
const LOOP_GUARD: Required<LoopGuardOptions> = { answers: 30, perMs: 60_000 };

/** Bounds memory use. The guard forgets the places with the oldest replies first. */
const MAX_PLACES = 10_000;

/** The guard logs again after this many windows in which no event was held back. */
const CALM_WINDOWS = 10;

/** Key of the place for all posts that an account causes. No lane has this name. */
const POSTS = "";

/**
 * An account in one conversation, on one post, or across all posts that it causes. Times are in ms since 1970 on the
 * platform's clock.
 */
interface Place {
  /** Times of the latest events that the bot replied to, by event id. */
  readonly answered: Map<string, number>;
  /** `undefined` if the guard has not held back any event here. */
  heldUntil: number | undefined;
  /** Time of the last reply. */
  usedAt: number;
}

export interface LoopGuardEnvironment {
  readonly platformClock: Pick<Clock, "now">;
  readonly laneOf?: LaneOf | undefined;
}

/**
 * Holds back an account's events if the bot replies to them faster than a human writes, because two bots could reply to
 * each other forever. A reply counts at its event's creation time, so that a bot catching up after an outage is not
 * slowed down. While events are being held back, the time of the reply counts instead, because a loop also builds up a
 * backlog. Counts are kept in memory, per process.
 */
export class LoopGuard {
  readonly #options: Required<LoopGuardOptions>;
  readonly #clock: Pick<Clock, "now">;
  readonly #laneOf: LaneOf;
  /** By account and place, ordered from the oldest to the newest reply. */
  readonly #places = new Map<string, Place>();

  constructor(
    options: LoopGuardOptions,
    { platformClock, laneOf = defaultLane }: LoopGuardEnvironment,
  ) {
    this.#options = { ...LOOP_GUARD, ...options };
    this.#clock = platformClock;
    this.#laneOf = laneOf;
  }

  /** Number of conversations and posts in which the guard held back an event within the last window. */
  get holding(): number {
    const now = this.#clock.now();
    let holding = 0;
    for (const place of this.#places.values()) if (this.#isHolding(place, now, 1)) holding += 1;
    return holding;
  }

  /** @throws {RetryLater} if the bot has replied to this account too often. The attempt does not count. */
  check(job: Pick<Job, "event" | "log">): void {
    const { event } = job;
    for (const key of [keyOf(event, defaultLane(event)), keyOf(event, POSTS)]) {
      const place = this.#places.get(key ?? "");
      if (place !== undefined) this.#checkPlace(place, job);
    }
  }

  #checkPlace(place: Place, job: Pick<Job, "event" | "log">): void {
    const { event } = job;
    if (place.answered.has(event.id) || place.answered.size < this.#options.answers) return;
    const now = this.#clock.now();
    const waitMs = this.#waitMs(place, event, now);
    if (waitMs <= 0) return;
    if (!this.#isHolding(place, now)) {
      job.log.warn(
        { retryInMs: waitMs },
        "loop guard: too many replies to one account; holding events back",
      );
    }
    place.heldUntil = now + waitMs;
    throw new LoopHeld(waitMs);
  }

  /**
   * Returns the wait, in ms. A custom lane may contain other conversations, so its events wait only for one reply's
   * share of the window.
   */
  #waitMs({ answered, usedAt }: Place, event: AnyEvent, now: number): number {
    const { answers, perMs } = this.#options;
    const windowMs = oldestOf(answered) + perMs - now;
    if (windowMs <= 0 || this.#laneOf(event) === defaultLane(event)) return windowMs;
    return Math.min(windowMs, usedAt + perMs / answers - now);
  }

  /** Returns whether an event was held back within the last `windows` windows. */
  #isHolding({ heldUntil }: Place, now: number, windows: number = CALM_WINDOWS): boolean {
    return heldUntil !== undefined && heldUntil + windows * this.#options.perMs >= now;
  }

  /**
   * Counts an event that the bot replied to. Several replies to one event and its timers count once. A post counts
   * toward the account, because each post is a new place.
   */
  noteAnswer(event: AnyEvent, { isPost }: { readonly isPost: boolean }): void {
    const key = keyOf(event, isPost ? POSTS : defaultLane(event));
    if (key === undefined) return;
    const now = this.#clock.now();
    const place = this.#places.get(key) ?? {
      answered: new Map(),
      heldUntil: undefined,
      usedAt: now,
    };
    place.usedAt = now;
    // Move the place to the end of the map, which is ordered by the last reply.
    this.#places.delete(key);
    this.#places.set(key, place);
    const createdAt = this.#isHolding(place, now) ? now : Date.parse(event.createdAt);
    place.answered.set(originOf(event), Number.isNaN(createdAt) ? now : Math.min(createdAt, now));
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

/** Returns `undefined` for an event without an account, because no reply can cause such an event again. */
function keyOf(event: AnyEvent, where: string): string | undefined {
  const actor = actorOf(event);
  return actor && JSON.stringify([where, foldUsername(actor)]);
}

function oldestOf(answered: ReadonlyMap<string, number>): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const at of answered.values()) oldest = Math.min(oldest, at);
  return oldest;
}

function forgetOldest(answered: Map<string, number>): void {
  const oldest = oldestOf(answered);
  for (const [id, at] of answered) {
    if (at === oldest) return void answered.delete(id);
  }
}
