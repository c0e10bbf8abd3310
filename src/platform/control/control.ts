import type { Scope } from "../../core/platform-contract.ts";
import { isOwn } from "../../events/own.ts";
import type { AnyEvent } from "../../events/types.ts";
import {
  type AccountInput,
  appNamed,
  type BlockInput,
  createGroup,
  createPerson,
  type GroupInput,
  type GroupResult,
  type Profile,
  profileOf,
  setBlock,
} from "../accounts.ts";
import type { ActInput, ActResult } from "../acts/input.ts";
import type { LimitSettings, LimitsView } from "../api/limits.ts";
import type { RunReports } from "../api/runs.ts";
import { isoTime, type UploadView } from "../api/views.ts";
import type { Apps, IssuedToken, NotificationView } from "../apps.ts";
import type { ClockControl, PlatformClock } from "../clock.ts";
import { invalid, notFound } from "../error.ts";
import { ownEntry } from "../events/shown-events.ts";
import { type Page, page, pageQuery, window } from "../http/query.ts";
import type { Snapshots } from "../snapshots.ts";
import { eventOf, type Visible } from "../store/event-log.ts";
import { eventId, eventSeq, idOf, seqOf } from "../store/ids.ts";
import type { Block, User } from "../store/people.ts";
import type { CallRecord, CallRecords } from "../timeline/calls.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { ImageInput } from "../uploads/uploads.ts";
import type { DeliveryRecord, DeliveryRecords, DeliverySummary } from "../webhooks/records.ts";
import type { WebhookChange, WebhookView } from "../webhooks/webhook.ts";
import type { State, World } from "../world.ts";
import { BotInboxes } from "./bot-inboxes.ts";
import { askBot, type BotQuestion, type BotView } from "./bot-view.ts";
import { Contents } from "./contents.ts";
import type {
  DeliverInput,
  DeliverResult,
  DeliveryCommand,
  DeliveryContent,
} from "./deliveries.ts";
import type {
  DeliveriesInput,
  EventTrace,
  FaultsChange,
  FaultsState,
  PlatformState,
  StorageState,
} from "./shapes.ts";

const everything: Visible = { dms: true, others: true };

export interface ControlOptions {
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly clockControl: ClockControl;
  readonly clock: PlatformClock;
  readonly timeline: Timeline;
  readonly records: DeliveryRecords;
  readonly calls: CallRecords;
  readonly runs: RunReports;
  /** Asks a bot for its status. Default: the network. */
  readonly fetch: ((request: Request) => Promise<Response>) | undefined;
}

/**
 * Operations that a bot does not have: those of people, of its owner, and faults. The control API serves them.
 *
 * A call about one app takes the username of its bot. Default: the first bot. An unknown name is 404 NOT_FOUND, and the
 * name of a person 400 VALIDATION.
 */
export class Control extends Contents {
  /** The platform's time. */
  readonly clock: ClockControl;
  /** Copies of the whole state to come back to. */
  readonly snapshots: Snapshots;
  /** The inboxes of the bots: events, states, timers and crons. */
  readonly inbox: BotInboxes;
  readonly #options: ControlOptions;

  constructor(options: ControlOptions) {
    super(options.state);
    this.#options = options;
    this.clock = options.clockControl;
    this.snapshots = options.snapshots;
    this.inbox = new BotInboxes({
      store: () => this.#world.store,
      timeline: options.timeline,
      questionTo: (user) => this.#question(user),
    });
  }

  /** The apps: each is a bot with its tokens, its webhook and its kill switch. */
  get apps(): Apps {
    return this.#world.apps;
  }

  /** A bot with its webhook. */
  state(bot?: string): PlatformState {
    const { store, webhooks } = this.#world;
    const { timeline, runs } = this.#options;
    const user = this.#bot(bot);
    const last = store.events.lastSeq(user.seq);
    return {
      bot: profileOf(user),
      people: this.people,
      webhook: webhooks.of(user.seq).view,
      lastEventId: last === 0 ? null : eventId(last),
      timelineSeq: timeline.last,
      reportingBots: runs.bots,
    };
  }

  /**
   * Lets a person or a bot do something.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG; 403 BLOCKED; 404 NOT_FOUND
   */
  act(input: ActInput): ActResult {
    return this.#world.acts.perform(input);
  }

  /**
   * Stores an image for one act. Its key goes into `imageKeys` of that act within an hour.
   *
   * @param input `from`: the username of who shows it, made on first use; `contentType`: what its bytes must be.
   * Default: any of the five kinds
   * @throws {PlatformError} 400 VALIDATION, TOO_LARGE; 503 NOT_CONFIGURED, STATE_REPLACED
   */
  async addImage(bytes: Uint8Array, input: ImageInput): Promise<UploadView> {
    return await this.#world.uploads.acceptOf(bytes, input);
  }

  /** The log of a bot, or what comes after the event `since`, oldest first: all of it, or `limit` events. */
  events(since?: string, bot?: string, limit?: number): readonly AnyEvent[] {
    const after = since === undefined ? 0 : eventSeq(since);
    if (after === undefined) throw invalid("since must be an event id");
    const page = this.#world.store.events.page(this.#bot(bot).seq, after, everything, limit);
    return page.map(eventOf);
  }

  /**
   * An event with what became of it: the deliveries that held it, and the calls that the bot made because of it.
   *
   * @param bot username of the bot whose timer or cron it is, because crons of several bots may have one id
   * @throws {PlatformError} 404 NOT_FOUND, also while a fault lets the event be late; 400 VALIDATION if several bots have
   * the event, and none is named
   */
  event(id: string, bot?: string): EventTrace {
    const { store } = this.#world;
    const { records, calls, runs, timeline } = this.#options;
    const because = (of: string) => ({ calls: calls.because(id, of), runs: runs.of(id, of) });
    const own = isOwn(id) ? ownEntry(timeline, id, bot && this.#bot(bot).username) : undefined;
    if (own !== undefined) {
      const event = { id, type: own.type, createdAt: own.at, payload: {} } as AnyEvent;
      return { event, bot: own.bot, deliveries: [], ...because(own.bot) };
    }
    const logged = store.events.findById(id);
    if (logged === undefined) throw notFound(`event: ${id}`);
    const { username } = store.people.get(logged.recipient);
    const deliveries = records.holding(id);
    return { event: eventOf(logged), bot: username, deliveries, ...because(username) };
  }

  /**
   * A call of the API with what was asked and answered.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  call(id: string): CallRecord {
    const record = this.#options.calls.find(id);
    if (record === undefined) throw notFound(`call: ${id}`);
    return record;
  }

  /**
   * Makes a bearer token with these scopes.
   *
   * @param bot username of the bot whose app it is for; made on first use. Default: the first one
   * @throws {PlatformError} 400 VALIDATION
   */
  createToken(scopes: readonly Scope[], bot?: string): IssuedToken {
    return this.#world.apps.createToken(scopes, bot);
  }

  /** Everybody but the bots, in the order in which they came. */
  get people(): readonly Profile[] {
    return this.#world.store.people.all().map(profileOf);
  }

  /**
   * Makes a person. Those whom an act names come into being by themselves.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  createPerson(input: AccountInput): Profile {
    return createPerson(this.#world.store, input);
  }

  /**
   * Makes a group conversation, which is no event.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG
   */
  createGroup(input: GroupInput): GroupResult {
    const { store } = this.#world;
    const { clock } = this.#options;
    return createGroup(store, input, clock.now());
  }

  /** Lists the blocks. */
  get blocks(): readonly Block[] {
    return this.#world.store.blocks.all();
  }

  /**
   * Makes one user block another, or lifts the block.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
   */
  setBlock(input: BlockInput): readonly Block[] {
    return setBlock(this.#world.store, input);
  }

  /** The rate limit and the daily quotas, and what the first bot has used of them. */
  get limits(): LimitsView {
    return this.limitsOf();
  }

  /** The rate limit and the daily quotas, and what a bot has used of them. */
  limitsOf(bot?: string): LimitsView {
    return this.#world.limits.view(this.#bot(bot).seq);
  }

  /** Sets the limits that are named, for every app; null takes a limit away. */
  setLimits(change: Partial<LimitSettings>): LimitsView {
    this.#world.limits.set(change);
    return this.limits;
  }

  /** Whether the server can keep images. */
  get storage(): StorageState {
    return { configured: this.#world.uploads.configured };
  }

  /** Switches the storage for uploads off or on; off, they are answered with 503 NOT_CONFIGURED. */
  setStorage({ configured }: StorageState): StorageState {
    this.#world.uploads.configured = configured;
    return this.storage;
  }

  /** The webhook of the first bot. */
  get webhook(): WebhookView {
    return this.webhookOf();
  }

  /** The webhook of a bot; of the first one unless it is named. */
  webhookOf(bot?: string): WebhookView {
    return this.#world.webhooks.of(this.#bot(bot).seq).view;
  }

  /**
   * Saves the webhook, as its owner does in the developer portal (section 3): that switches it on,
   * unless `enabled` is false, and resets the failure count.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  saveWebhook(change: WebhookChange, bot?: string): WebhookView {
    const { webhooks } = this.#world;
    const { seq } = this.#bot(bot);
    const view = webhooks.of(seq).save(change);
    webhooks.restart(seq);
    return view;
  }

  /** A new secret for the webhook, from which the next delivery is signed. */
  regenerateWebhookSecret(bot?: string): string {
    return this.#world.webhooks.of(this.#bot(bot).seq).regenerateSecret();
  }

  /** Notifications to the owner of an app, oldest first. */
  notifications(bot?: string): readonly NotificationView[] {
    const { notifications } = this.#world.store;
    return notifications.of(this.#bot(bot).seq).map(({ seq, at, type, message }) => {
      return { id: idOf("n", seq), at: isoTime(at), type, message };
    });
  }

  /** The faults that are set. */
  get faults(): FaultsState {
    const { webhookFaults, apiFaults, eventFaults } = this.#world;
    return { webhook: webhookFaults.state, api: apiFaults.state, events: eventFaults.state };
  }

  /**
   * Sets the faults of the parts that are named; the others stay as they are.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  setFaults({ webhook, api, events }: FaultsChange): FaultsState {
    const { webhookFaults, apiFaults, eventFaults } = this.#world;
    if (events !== undefined) eventFaults.set(events);
    if (webhook !== undefined) webhookFaults.set(webhook);
    if (api !== undefined) apiFaults.set(api);
    return this.faults;
  }

  /**
   * Delivers these events now, in this order, whatever became of them before, or a body as it is. Changes nothing in
   * the schedule: no retries, and failures do not count.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND; 409 WEBHOOK_OFF, APP_DISABLED; 413 TOO_LARGE
   */
  async deliver(input: DeliverInput, bot?: string): Promise<readonly DeliverResult[]> {
    return this.#world.forced.deliver(this.#bot(bot).seq, input);
  }

  /**
   * The same as a command with curl, signed now. It holds a signature, and no secret.
   *
   * @throws {PlatformError} as {@link deliver}
   */
  deliveryCommand(content: DeliveryContent, bot?: string): DeliveryCommand {
    return this.#world.forced.command(this.#bot(bot).seq, content);
  }

  /** Reads the bot's status. */
  botView(bot?: string): Promise<BotView> {
    return askBot(this.#question(this.#bot(bot)));
  }

  /**
   * Begins anew, as with a new state file: the small world of the start, the limits of the start, the machine's
   * time. Stays: the first app's tokens and secret, snapshots, the timeline. Otherwise as a restored snapshot.
   */
  reset(): void {
    this.#options.state.reset();
  }

  /**
   * The deliveries that were made, newest first.
   *
   * @param bot username of the bot that they were made to. Default: the first one
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
   */
  deliveries(input: DeliveriesInput = {}, bot?: string): Page<DeliverySummary> {
    const { username } = this.#bot(bot);
    return page(
      window(pageQuery(input), (id) => seqOf("dlv", id)),
      (rows) => this.#options.records.page(username, rows),
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

  get #world(): World {
    return this.#options.state.world;
  }

  /** An address that was reported gets no other token than the one that reported it, if that is still valid. */
  #question({ seq, username }: User): BotQuestion {
    const { timeline, fetch, runs } = this.#options;
    const { store, webhooks } = this.#world;
    const common = { signal: timeline.ended, fetch };
    const keys = store.tokens.allKeysOf(seq);
    const reported = runs.addressOf(username);
    if (reported !== undefined && keys.includes(reported.apiKey)) {
      return { ...common, address: reported.url, apiKeys: [reported.apiKey] };
    }
    return { ...common, address: webhooks.of(seq).view.url, apiKeys: keys };
  }

  #bot(username: string | undefined): User {
    return appNamed(this.#world.store, username);
  }
}
