import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "../client/client.ts";
import { ApiError, isUnexplained } from "../client/errors.ts";
import { type Clock, sleep } from "../core/clock.ts";
import { idText } from "../events/id.ts";
import { actorOf, foldUsername } from "../events/lane.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Job } from "../steps/job.ts";

/** In ms. `GET /me` is requested at most this often while it fails. */
const RETRY_INTERVAL_MS = 60_000;

/** In ms. The same while the token lacks the scope, because a token rarely gets another scope. */
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

  /** Returns true when the bot's own account caused the event. While the username is unknown the answer is false. */
  hasCaused(event: AnyEvent): boolean {
    const actor = actorOf(event);
    return actor !== undefined && this.#username === foldUsername(actor);
  }

  /**
   * Finds out the username. Resolves when that has succeeded or failed, after 2 s at the latest. `undefined` if the event
   * need not wait.
   */
  learn(job: Pick<Job<AnyEvent>, "event" | "signal">): Promise<void> | undefined {
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
    let waitMs = RETRY_INTERVAL_MS;
    try {
      const { username } = await this.#outside(() => this.#client.me());
      this.#isConfirmed = this.#set(username);
      this.#isRefused = !this.#isConfirmed;
      if (this.#isRefused) waitMs = REFUSED_INTERVAL_MS;
    } catch (error) {
      this.#isRefused = isRefusal(error);
      if (this.#isRefused && !isUnexplained(error)) waitMs = REFUSED_INTERVAL_MS;
    }
    this.#nextRequestAt = this.#clock.now() + waitMs;
  }

  /** Looks for a message of the bot: section 2 names the author of each. */
  async #readMessages(event: AnyEvent, signal: AbortSignal): Promise<void> {
    const payload: Readonly<Record<string, unknown>> = { ...event.payload };
    const conversationId = idText(payload.conversationId);
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
