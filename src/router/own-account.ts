import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import { type Clock, sleep } from "../core/clock.ts";
import { actorOf, conversationOf, foldUsername } from "../events/lane.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Job } from "../steps/step.ts";

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
