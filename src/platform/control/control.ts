import type { KnownEvent } from "../../events/types.ts";
import type { Acts } from "../acts/acts.ts";
import type { ActInput, ActResult } from "../acts/input.ts";
import type { Views } from "../api/views.ts";
import type { ClockControl } from "../clock/clock-control.ts";
import type { PlatformClock } from "../clock/platform-clock.ts";
import { invalid, notFound } from "../error.ts";
import type { ApiFaults } from "../faults/api-faults.ts";
import type { EventFaults } from "../faults/event-faults.ts";
import type { WebhookFaults } from "../faults/webhook-faults.ts";
import { type Page, page, window } from "../http/query.ts";
import type { Limits, LimitsView } from "../limits/limits.ts";
import type { LimitSettings } from "../limits/settings.ts";
import { newApiKey } from "../secrets.ts";
import type { KeptSettings } from "../state/kept-settings.ts";
import type { Snapshots } from "../state/snapshots.ts";
import type { WholeState } from "../state/whole-state.ts";
import type { Block } from "../store/blocks.ts";
import { eventId, eventSeq, idOf, seqOf } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { Scope } from "../store/tokens.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Uploads } from "../uploads/uploads.ts";
import type { Deliverer } from "../webhooks/deliverer.ts";
import type { DeliveryRecord, DeliverySummary } from "../webhooks/record.ts";
import type { DeliveryRecords } from "../webhooks/records.ts";
import type { Webhook, WebhookChange, WebhookView } from "../webhooks/webhook.ts";
import type { DeliverInput, DeliverResult, ForcedDeliveries } from "./deliveries.ts";
import type {
  ControlComment,
  ControlMessage,
  DeliveriesInput,
  FaultsChange,
  FaultsState,
  IssuedToken,
  PlatformState,
  Profile,
  StorageState,
} from "./shapes.ts";
import {
  type BlockInput,
  botNamed,
  createGroup,
  existingBot,
  type GroupInput,
  type GroupResult,
  setBlock,
} from "./world.ts";

export interface ControlOptions {
  readonly store: Store;
  readonly acts: Acts;
  readonly webhook: Webhook;
  readonly deliverer: Deliverer;
  readonly forced: ForcedDeliveries;
  readonly webhookFaults: WebhookFaults;
  readonly apiFaults: ApiFaults;
  readonly eventFaults: EventFaults;
  readonly records: DeliveryRecords;
  readonly timeline: Timeline;
  readonly clock: PlatformClock;
  readonly views: Views;
  readonly limits: Limits;
  readonly uploads: Uploads;
  readonly kept: KeptSettings;
  readonly whole: WholeState;
  readonly clockControl: ClockControl;
  readonly snapshots: Snapshots;
}

/** What a bot cannot do: be a person, the bot's owner, or bad luck. The control API is a face of it. */
export class Control {
  /** The platform's time. */
  readonly clock: ClockControl;
  /** Copies of the whole state to come back to. */
  readonly snapshots: Snapshots;
  readonly #options: ControlOptions;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.clock = options.clockControl;
    this.snapshots = options.snapshots;
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
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG; 403 BLOCKED; 404 NOT_FOUND
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
    return messages.map((message) => this.#options.views.message(message, bot));
  }

  /** All comments on a post, oldest first. */
  comments(postId: string): readonly ControlComment[] {
    const { store, views } = this.#options;
    const { posts } = store;
    const seq = seqOf("p", postId);
    if (seq === undefined || posts.post(seq) === undefined) throw notFound("post");
    return posts.allComments(seq).map((comment) => {
      const { replyTo } = comment;
      return {
        ...views.comment(comment),
        replyToId: replyTo === null ? null : idOf("cm", replyTo),
      };
    });
  }

  /** The whole log, or what comes after the event `since`, oldest first. */
  events(since?: string): readonly KnownEvent[] {
    const after = since === undefined ? 0 : eventSeq(since);
    if (after === undefined) throw invalid("since must be an event id");
    const page = this.#options.store.events.page(after, { dms: true, others: true });
    return page.map(({ event }) => event);
  }

  /**
   * Makes a bearer token with these scopes.
   *
   * @param bot username of the bot whose app it is for; made on first use. Default: the bot
   * @throws {PlatformError} 400 VALIDATION
   */
  createToken(scopes: readonly Scope[], bot?: string): IssuedToken {
    const { store } = this.#options;
    const apiKey = newApiKey();
    const own = [...new Set(scopes)];
    const { seq } = bot === undefined ? store.people.bot() : botNamed(store, bot);
    store.tokens.add(apiKey, seq, own);
    return { apiKey, scopes: own };
  }

  /**
   * Makes a group conversation, which is no event.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG
   */
  createGroup(input: GroupInput): GroupResult {
    const { store, clock } = this.#options;
    return createGroup(store, input, clock.now());
  }

  /** Who has blocked whom. */
  get blocks(): readonly Block[] {
    return this.#options.store.blocks.all();
  }

  /**
   * Lets somebody block somebody, or lift that.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
   */
  setBlock(input: BlockInput): readonly Block[] {
    return setBlock(this.#options.store, input);
  }

  /** The rate limit and the daily quotas, and what the bot has used of them. */
  get limits(): LimitsView {
    const { limits, store } = this.#options;
    return limits.view(store.people.bot().seq);
  }

  /** Sets the limits that are named, for every app; null takes a limit away. */
  setLimits(change: Partial<LimitSettings>): LimitsView {
    this.#options.limits.set(change);
    this.#options.kept.save();
    return this.limits;
  }

  get storage(): StorageState {
    return { configured: this.#options.uploads.configured };
  }

  /** Switches the storage for uploads off or on; off, they are answered with 503 NOT_CONFIGURED. */
  setStorage({ configured }: StorageState): StorageState {
    this.#options.uploads.configured = configured;
    this.#options.kept.save();
    return this.storage;
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
    const { webhookFaults, apiFaults, eventFaults } = this.#options;
    return { webhook: webhookFaults.state, api: apiFaults.state, events: eventFaults.state };
  }

  /**
   * Sets the faults of the parts that are named; the others stay as they are.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  setFaults({ webhook, api, events }: FaultsChange): FaultsState {
    const { webhookFaults, apiFaults, eventFaults } = this.#options;
    if (events !== undefined) eventFaults.set(events);
    if (webhook !== undefined) webhookFaults.set(webhook);
    if (api !== undefined) apiFaults.set(api);
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

  /**
   * Begins anew, as with a new state file: the small world of the start, the limits of the start, the machine's
   * time. Stays: the first app's tokens and secret, snapshots, the timeline. Otherwise as a restored snapshot.
   */
  reset(): void {
    this.#options.whole.reset();
  }

  /**
   * The deliveries that were made, newest first.
   *
   * @param bot username of the bot that they were made to. Default: the bot
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
   */
  deliveries({ limit, cursor }: DeliveriesInput = {}, bot?: string): Page<DeliverySummary> {
    const { store, records } = this.#options;
    const { username } = bot === undefined ? store.people.bot() : existingBot(store, bot);
    const size = limit === undefined ? {} : { limit: String(limit) };
    return page(
      window({ ...size, cursor }, (id) => seqOf("dlv", id)),
      (rows) => records.page(username, rows),
      { item: (summary) => summary, cursor: ({ id }) => id },
    );
  }

  /**
   * A delivery with what was sent and answered.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  async delivery(id: string): Promise<DeliveryRecord> {
    const record = await this.#options.records.find(id);
    if (record === undefined) throw notFound(`delivery: ${id}`);
    return record;
  }
}

function profile({ username, name }: Profile): Profile {
  return { username, name };
}
