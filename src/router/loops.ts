import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import { type Clock, sleep } from "../core/clock.ts";
import { LoopHeld } from "../errors.ts";
import { actorOf, conversationOf, defaultLane, foldUsername, type LaneOf } from "../events/lane.ts";
import { originOf } from "../events/own.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Job } from "../steps/step.ts";

/** Guards against loops. A bot that replies to its own events, or to another bot's events, would never stop. */

/** Interval between `GET /me` requests after a failure, in ms. */
const RETRY_INTERVAL_MS = 60_000;

/**
 * Interval between `GET /me` requests after a rejection, in ms. Long, because a rejection lasts until someone fixes the
 * token's access, and each request uses up the bot's budget.
 */
const REFUSED_INTERVAL_MS = 600_000;

/**
 * Longest time that events wait for a request for the username, in ms since its start. The request itself continues.
 * Counted from the request, because otherwise a platform that does not respond would delay each event by this time.
 */
const LEARN_TIMEOUT_MS = 2_000;

/** Bounds memory use. Beyond this number the set is cleared, and the bot reads the conversations again. */
const MAX_CONVERSATIONS = 1_000;

/**
 * Recognizes events that the bot itself caused. The platform sends such events (section 6 of the platform document),
 * and a bot that replied to them would never stop. The username comes from `GET /me`. Until that request succeeds, the
 * bot learns its username from its messages and writes.
 */
export class OwnAccount {
  readonly #client: Client;
  readonly #clock: Clock;
  /** Runs a request outside the current event, so that the event's log and trace do not include it. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #username: string | undefined;
  /** True once `GET /me` has returned the username, which replaces a username learned from writes. */
  #isConfirmed = false;
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #nextRequestAt = Number.NEGATIVE_INFINITY;
  /** True while the platform rejects this token's `GET /me`, or returns no username. */
  #isRefused = false;
  /** Conversations in which the bot has not written yet. */
  readonly #silent = new Set<string>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** In lower case. `undefined` if unknown. */
  get username(): string | undefined {
    return this.#username;
  }

  /** Returns whether the bot's own account caused the event. Returns false while the username is unknown. */
  hasCaused(event: AnyEvent): boolean {
    const actor = actorOf(event);
    return actor !== undefined && this.#username === foldUsername(actor);
  }

  /**
   * Requests the username. Resolves when the request succeeds or fails, or 2 s after its start. Returns `undefined` if
   * the event need not wait.
   */
  learn(job: Pick<Job, "event" | "signal">): Promise<void> | undefined {
    const { event } = job;
    if (this.#isConfirmed || actorOf(event) === undefined) return undefined;
    const asking = this.#ask();
    if (this.#username !== undefined) return undefined;
    const waitMs = this.#isRefused
      ? LEARN_TIMEOUT_MS
      : this.#askedAt + LEARN_TIMEOUT_MS - this.#clock.now();
    if (waitMs <= 0 || (asking === undefined && !this.#isRefused)) return undefined;
    const late = sleep(this.#clock, waitMs, job.signal, { background: true });
    return Promise.race([this.#learn(asking, event, job.signal), late]);
  }

  /** Learns the username from the result of a write, if the result names its author. */
  noteWrite(result: unknown): void {
    if (this.#isConfirmed) return;
    const { author, fromBot, authorUsername, conversationId }: Readonly<Record<string, unknown>> = {
      ...Object(result),
    };
    const { username }: { readonly username?: unknown } = { ...Object(author) };
    this.#set(fromBot === true ? authorUsername : username);
    if (typeof conversationId === "string") this.#silent.delete(conversationId);
  }

  async #learn(
    asking: Promise<void> | undefined,
    event: AnyEvent,
    signal: AbortSignal,
  ): Promise<void> {
    await asking;
    if (this.#username === undefined && this.#isRefused) await this.#readMessages(event, signal);
  }

  /** Requests the profile, unless a recent request failed. Resolves together with a request already in progress. */
  #ask(): Promise<void> | undefined {
    if (this.#asking === undefined && this.#clock.now() >= this.#nextRequestAt) {
      this.#askedAt = this.#clock.now();
      this.#asking = this.#readProfile().finally(() => {
        this.#asking = undefined;
      });
    }
    return this.#asking;
  }

  async #readProfile(): Promise<void> {
    try {
      const { username } = await this.#outside(() => this.#client.me());
      this.#isConfirmed = this.#set(username);
      this.#isRefused = !this.#isConfirmed;
    } catch (error) {
      this.#isRefused = isRefusal(error);
    }
    const intervalMs = this.#isRefused ? REFUSED_INTERVAL_MS : RETRY_INTERVAL_MS;
    this.#nextRequestAt = this.#clock.now() + intervalMs;
  }

  /**
   * Looks for one of the bot's own messages, because each message names its author (section 2 of the platform
   * document).
   */
  async #readMessages(event: AnyEvent, signal: AbortSignal): Promise<void> {
    const conversationId = conversationOf(event);
    if (conversationId === undefined || this.#silent.has(conversationId)) return;
    if (this.#silent.size >= MAX_CONVERSATIONS) this.#silent.clear();
    this.#silent.add(conversationId);
    try {
      const { items } = await this.#client.dms.messages(conversationId, { limit: 50, signal });
      const own = items.find(({ fromBot }) => fromBot);
      if (!this.#isConfirmed) this.#set(own?.authorUsername);
    } catch (error) {
      // The next event in the conversation tries again, unless the platform would reject that request as well.
      if (!isRefusal(error)) this.#silent.delete(conversationId);
    }
  }

  #set(username: unknown): boolean {
    if (typeof username !== "string" || username === "") return false;
    this.#username = foldUsername(username);
    this.#silent.clear();
    return true;
  }
}

/**
 * Returns whether the token lacks access to this request. The kill switch, by contrast, rejects all of the app's
 * requests.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && !error.refusesToken;
}

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
