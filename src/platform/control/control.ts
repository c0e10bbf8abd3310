import type { KnownEvent } from "../../events/types.ts";
import type { Acts } from "../acts/acts.ts";
import type { ActInput, ActResult } from "../acts/input.ts";
import { type CommentView, commentView, type MessageView, messageView } from "../api/views.ts";
import { invalid, notFound } from "../error.ts";
import type { ApiFaultInput, ApiFaultState, ApiFaults } from "../faults/api-faults.ts";
import type { WebhookFault, WebhookFaultInput, WebhookFaults } from "../faults/webhook-faults.ts";
import { newApiKey } from "../secrets.ts";
import { eventId, eventSeq, idOf, seqOf } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { Scope } from "../store/tokens.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Deliverer } from "../webhooks/deliverer.ts";
import type { Webhook, WebhookChange, WebhookView } from "../webhooks/webhook.ts";
import type { DeliverInput, DeliverResult, ForcedDeliveries } from "./deliveries.ts";

/** The state of the platform at a glance. */
export interface PlatformState {
  readonly bot: Profile;
  readonly people: readonly Profile[];
  readonly webhook: WebhookView;
  /** Null when nothing has happened yet. */
  readonly lastEventId: string | null;
  /** The number of the newest timeline entry. */
  readonly timelineSeq: number;
}

export interface Profile {
  readonly username: string;
  readonly name: string;
}

export interface IssuedToken {
  readonly apiKey: string;
  readonly scopes: readonly Scope[];
}

export interface FaultsState {
  readonly webhook: WebhookFault;
  readonly api: ApiFaultState;
}

/** Absent parts stay as they are. */
export interface FaultsChange {
  readonly webhook?: WebhookFaultInput | undefined;
  readonly api?: ApiFaultInput | undefined;
}

/** A message as everybody sees it: `fromBot` is true for the bot's. */
export type ControlMessage = MessageView;

/** A comment with the id of the comment that it answers. */
export type ControlComment = CommentView & { readonly replyToId: string | null };

export interface ControlOptions {
  readonly store: Store;
  readonly acts: Acts;
  readonly webhook: Webhook;
  readonly deliverer: Deliverer;
  readonly forced: ForcedDeliveries;
  readonly webhookFaults: WebhookFaults;
  readonly apiFaults: ApiFaults;
  readonly timeline: Timeline;
}

/** What a bot cannot do: be a person, the bot's owner, or bad luck. The control API is a face of it. */
export class Control {
  readonly #options: ControlOptions;

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  state(): PlatformState {
    const { store, webhook, timeline } = this.#options;
    const last = store.events.lastSeq();
    return {
      bot: profile(store.people.bot()),
      people: store.people.all().map(profile),
      webhook: webhook.view,
      lastEventId: last === 0 ? null : eventId(last),
      timelineSeq: timeline.last,
    };
  }

  /**
   * Lets a person do something that makes events.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG; 404 NOT_FOUND
   */
  act(input: ActInput): ActResult {
    return this.#options.acts.perform(input);
  }

  /** All messages of a conversation, oldest first. */
  messages(conversationId: string): readonly ControlMessage[] {
    const { conversations, people } = this.#options.store;
    const seq = seqOf("c", conversationId);
    const messages = seq === undefined ? [] : conversations.all(seq);
    if (messages.length === 0) throw notFound("conversation");
    const bot = people.bot();
    return messages.map((message) => messageView(message, bot));
  }

  /** All comments on a post, oldest first. */
  comments(postId: string): readonly ControlComment[] {
    const { posts } = this.#options.store;
    const seq = seqOf("p", postId);
    if (seq === undefined || posts.post(seq) === undefined) throw notFound("post");
    return posts.allComments(seq).map((comment) => {
      const { replyTo } = comment;
      return { ...commentView(comment), replyToId: replyTo === null ? null : idOf("cm", replyTo) };
    });
  }

  /** The whole log, or what comes after the event `since`, oldest first. */
  events(since?: string): readonly KnownEvent[] {
    const after = since === undefined ? 0 : eventSeq(since);
    if (after === undefined) throw invalid("since must be an event id");
    const page = this.#options.store.events.page(after, { dms: true, others: true });
    return page.map(({ event }) => event);
  }

  /** Makes a bearer token with these scopes. */
  createToken(scopes: readonly Scope[]): IssuedToken {
    const apiKey = newApiKey();
    const own = [...new Set(scopes)];
    this.#options.store.tokens.add(apiKey, own);
    return { apiKey, scopes: own };
  }

  get webhook(): WebhookView {
    return this.#options.webhook.view;
  }

  /**
   * Saves the webhook, as its owner does in the developer portal (section 3): that switches it on,
   * unless `enabled` is false, and resets the failure count.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  saveWebhook(change: WebhookChange): WebhookView {
    const view = this.#options.webhook.save(change);
    this.#options.deliverer.restart();
    return view;
  }

  regenerateWebhookSecret(): string {
    return this.#options.webhook.regenerateSecret();
  }

  get faults(): FaultsState {
    return { webhook: this.#options.webhookFaults.state, api: this.#options.apiFaults.state };
  }

  setFaults(change: FaultsChange): FaultsState {
    if (change.webhook !== undefined) this.#options.webhookFaults.set(change.webhook);
    if (change.api !== undefined) this.#options.apiFaults.set(change.api);
    return this.faults;
  }

  /**
   * Delivers these events now, in this order, whatever became of them before. Changes nothing in the
   * schedule: no retries, and failures do not count.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND; 409 WEBHOOK_OFF
   */
  deliver(input: DeliverInput): Promise<readonly DeliverResult[]> {
    return this.#options.forced.deliver(input);
  }
}

function profile({ username, name }: Profile): Profile {
  return { username, name };
}
