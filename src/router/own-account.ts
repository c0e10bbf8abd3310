import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import type { Clock } from "../core/clock.ts";
import { actorOf, foldUsername } from "../events/actor.ts";
import { idText } from "../events/id.ts";
import type { AnyEvent } from "../events/types.ts";

/** In ms. An event waits for `GET /me` at most this often while the platform does not answer it. */
const RETRY_INTERVAL_MS = 60_000;

/** Conversations without a message of the bot that are remembered. Beyond it they are read again. */
const MAX_CONVERSATIONS = 1_000;

/**
 * Recognizes events that the bot caused itself: section 6 excepts nobody, and a bot that answers its own comments never
 * stops. The username comes from `GET /me`, asked once. A token without `read` learns it from messages of the bot.
 */
export class OwnAccount {
  readonly #client: Client;
  readonly #clock: Clock;
  /** Runs a request outside of the event that happens to be the first: neither log nor trace show it there. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #username: string | undefined;
  #asking: Promise<void> | undefined;
  #nextRequestAt = Number.NEGATIVE_INFINITY;
  /** True once the platform refused `GET /me`, or answered without a username. A token does not change: no more requests. */
  #isRefused = false;
  /** Conversations in which the bot has written nothing yet. */
  readonly #silent = new Set<string>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Resolves to true when the bot's own account caused the event. While the username is unknown the answer is false.
   */
  async hasCaused(event: AnyEvent, signal: AbortSignal): Promise<boolean> {
    const actor = actorOf(event);
    if (actor === undefined) return false;
    if (this.#username === undefined) await this.#learn(event, signal);
    return this.#username === foldUsername(actor);
  }

  /** Learns from the result of a write, as far as it names its author. */
  noteWrite(result: unknown): void {
    if (this.#username !== undefined) return;
    const { author, fromBot, authorUsername, conversationId }: Readonly<Record<string, unknown>> = {
      ...Object(result),
    };
    const { username }: { readonly username?: unknown } = { ...Object(author) };
    this.#set(fromBot === true ? authorUsername : username);
    if (typeof conversationId === "string") this.#silent.delete(conversationId);
  }

  async #learn(event: AnyEvent, signal: AbortSignal): Promise<void> {
    if (this.#clock.now() >= this.#nextRequestAt) {
      this.#asking ??= this.#readProfile(signal).finally(() => {
        this.#asking = undefined;
      });
      await this.#asking;
    }
    if (this.#username === undefined && this.#isRefused) await this.#readMessages(event, signal);
  }

  async #readProfile(signal: AbortSignal): Promise<void> {
    try {
      const { username } = await this.#outside(() => this.#client.me({ signal }));
      this.#set(username);
      this.#isRefused = username === undefined;
    } catch (error) {
      // The run was aborted, which says nothing about the platform: the next event asks again.
      if (signal.aborted) return;
      this.#isRefused = error instanceof ApiError && error.status === 403;
    }
    const waitMs = this.#isRefused ? Number.POSITIVE_INFINITY : RETRY_INTERVAL_MS;
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
      this.#set(items.find(({ fromBot }) => fromBot)?.authorUsername);
    } catch (error) {
      // The next event of the conversation tries again, unless it would be refused as well.
      if (!(error instanceof ApiError)) this.#silent.delete(conversationId);
    }
  }

  #set(username: unknown): void {
    if (typeof username !== "string" || username === "") return;
    this.#username = foldUsername(username);
    this.#silent.clear();
  }
}
