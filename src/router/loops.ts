import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import { type Clock, sleep } from "../core/clock.ts";
import { LoopHeld } from "../errors.ts";
import { actorOf, conversationOf, defaultLane, foldUsername, type LaneOf } from "../events/lane.ts";
import { originOf } from "../events/own.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Job } from "../steps/step.ts";

/** Events that the bot must not answer, or it never stops: its own, and those of an account that answers as fast as a bot. */

/** In ms. `GET /me` is requested at most this often while it fails. */
const RETRY_INTERVAL_MS = 60_000;

/** In ms. A refusal lasts until a person mends it, and each request takes one from the budget of the bot. */
const REFUSED_INTERVAL_MS = 600_000;

/** In ms. An event waits this long for the username. The request itself goes on. */
const LEARN_TIMEOUT_MS = 2_000;

/** Conversations without a message of the bot that are remembered. Beyond it they are read again. */
const MAX_CONVERSATIONS = 1_000;

/**
 * Recognizes events that the bot caused itself. Section 6 does not leave them out, and a bot that answers itself never
 * stops. The username comes from `GET /me`. Until that answers, it is learnt from messages and writes of the bot.
 */
export class OwnAccount {
  readonly #client: Client;
  readonly #clock: Clock;
  /** Runs a request outside of the event that happens to be the first: neither log nor trace show it there. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #username: string | undefined;
  /** True once `GET /me` has named the username. A learnt username gives way to that answer. */
  #isConfirmed = false;
  #asking: Promise<void> | undefined;
  #nextRequestAt = Number.NEGATIVE_INFINITY;
  /** True while the platform refuses `GET /me` to this token, or answers without a username. */
  #isRefused = false;
  /** Conversations in which the bot has written nothing yet. */
  readonly #silent = new Set<string>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** In lower case; `undefined` if unknown. */
  get username(): string | undefined {
    return this.#username;
  }

  /** Returns true when the bot's own account caused the event. While the username is unknown the answer is false. */
  hasCaused(event: AnyEvent): boolean {
    const actor = actorOf(event);
    return actor !== undefined && this.#username === foldUsername(actor);
  }

  /**
   * Finds out the username. Resolves when that has succeeded or failed, after 2 s at the latest. `undefined` if the event
   * need not wait.
   */
  learn(job: Pick<Job, "event" | "signal">): Promise<void> | undefined {
    const { event } = job;
    if (this.#isConfirmed || actorOf(event) === undefined) return undefined;
    const asking = this.#ask();
    if (this.#username !== undefined) return undefined;
    if (asking === undefined && !this.#isRefused) return undefined;
    const late = sleep(this.#clock, LEARN_TIMEOUT_MS, job.signal, { background: true });
    return Promise.race([this.#learn(asking, event, job.signal), late]);
  }

  /** Learns from the result of a write of the bot, as far as it names its author. */
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

  /** Starts a request unless one was made a short time ago. Resolves with the request that is under way. */
  #ask(): Promise<void> | undefined {
    if (this.#asking === undefined && this.#clock.now() >= this.#nextRequestAt) {
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

  /** Looks for a message of the bot: section 2 names the author of each. */
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
      // The next event of the conversation tries again, unless it would be refused as well.
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

/** Returns true when the platform refuses this request. The kill switch refuses the app instead, for a while. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && !error.refusesToken;
}

/** The rate at which a bot answers one account in one conversation, or on one post, or with posts of its own. */
export interface LoopGuardOptions {
  /** Events of one account in one place that are answered within `perMs`, from 1 to 10,000. Default 30. */
  readonly answers?: number;
  /** In ms, up to 365 days. Default 60,000. */
  readonly perMs?: number;
}

/** No person writes 30 messages a minute for long; two bots write thousands. */
const LOOP_GUARD: Required<LoopGuardOptions> = { answers: 30, perMs: 60_000 };

/** Places that are remembered. The ones that were answered longest ago are forgotten first. */
const MAX_PLACES = 10_000;

/** An episode ends after this many windows without an event held back. */
const CALM_WINDOWS = 10;

/** The place of posts that an account causes. No lane has this name. */
const POSTS = "";

/** An account in one conversation, on one post, or with the posts that it causes. Times are ms since 1970 on the platform's clock. */
interface Place {
  /** Times of the latest answered events, by event id. */
  readonly answered: Map<string, number>;
  /** `undefined` if nothing was held back yet. */
  heldUntil: number | undefined;
  /** The time of the last answer. */
  usedAt: number;
}

export interface LoopGuardEnvironment {
  readonly platformClock: Pick<Clock, "now">;
  readonly laneOf?: LaneOf | undefined;
}

/**
 * Holds back events of an account that is answered faster than a person writes, because two bots answer each other for
 * ever. Answers are counted by the time at which the answered event was created: a bot that catches up after an outage is
 * not slowed. While events are held back, the time of the answer counts instead, because a loop makes a backlog, too.
 * Counts live in memory, in each process.
 */
export class LoopGuard {
  readonly #options: Required<LoopGuardOptions>;
  readonly #clock: Pick<Clock, "now">;
  readonly #laneOf: LaneOf;
  /** By account and place; the one that was used last is the last. */
  readonly #places = new Map<string, Place>();

  constructor(
    options: LoopGuardOptions,
    { platformClock, laneOf = defaultLane }: LoopGuardEnvironment,
  ) {
    this.#options = { ...LOOP_GUARD, ...options };
    this.#clock = platformClock;
    this.#laneOf = laneOf;
  }

  /** @throws {RetryLater} while the account of this event was answered too often; the attempt does not count */
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
        "loop guard: too many answers to one account; holding events back",
      );
    }
    place.heldUntil = now + waitMs;
    throw new LoopHeld(waitMs);
  }

  /** A lane of the bot's own choice has other conversations, too. They wait for one answer instead of a whole window. */
  #waitMs({ answered, usedAt }: Place, event: AnyEvent, now: number): number {
    const { answers, perMs } = this.#options;
    const windowMs = oldestOf(answered) + perMs - now;
    if (windowMs <= 0 || this.#laneOf(event) === defaultLane(event)) return windowMs;
    return Math.min(windowMs, usedAt + perMs / answers - now);
  }

  /** Returns true until nothing was held back for a while. */
  #isHolding({ heldUntil }: Place, now: number): boolean {
    return heldUntil !== undefined && heldUntil + CALM_WINDOWS * this.#options.perMs >= now;
  }

  /**
   * Counts an event that was answered; several answers to one event count once, with those to the timers that it has set. One that was answered with a post counts
   * for the account, because each post is a new place.
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
    // The last place is the one that was used last.
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

/** `undefined` for an event without an account: no reply can cause it again. */
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
