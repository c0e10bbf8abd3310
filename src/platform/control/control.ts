import * as z from "zod";
import type { Scope } from "../../core/platform-contract.ts";
import type { AnyEvent } from "../../events/types.ts";
import {
  type AccountInput,
  accountInput,
  appNamed,
  type BlockInput,
  blockInput,
  createGroup,
  createPerson,
  type GroupInput,
  type GroupResult,
  groupInput,
  type Profile,
  profileOf,
  setBlock,
} from "../accounts.ts";
import { type ActInput, type ActResult, actInput } from "../acts/input.ts";
import type { RunReports } from "../api/runs.ts";
import { type Apps, type IssuedToken, type NotificationView, scopeList } from "../apps.ts";
import type { ClockControl, PlatformClock } from "../clock.ts";
import { invalid, notFound } from "../error.ts";
import { findEvent } from "../events/shown-events.ts";
import type { Schemas } from "../http/body.ts";
import { type Page, page, pageQuery, window } from "../http/query.ts";
import { type LimitSettings, type LimitsView, limitsChange } from "../limits.ts";
import type { Snapshots } from "../snapshots.ts";
import { eventOf, type Visible } from "../store/event-log.ts";
import { eventId, eventSeq, idOf, seqOf } from "../store/ids.ts";
import type { Block, User } from "../store/people.ts";
import type { CallRecord, CallRecords } from "../timeline/calls.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { type ImageInput, imageInput } from "../uploads/uploads.ts";
import { isoTime, type UploadView } from "../views.ts";
import {
  type DeliverInput,
  type DeliverResult,
  type DeliveryCommand,
  type DeliveryContent,
  deliverInput,
  deliveryContent,
} from "../webhooks/forced.ts";
import type { DeliveryRecord, DeliveryRecords, DeliverySummary } from "../webhooks/records.ts";
import { type WebhookChange, type WebhookView, webhookChange } from "../webhooks/webhook.ts";
import type { State, World } from "../world.ts";
import { BotInboxes } from "./bot-inboxes.ts";
import { askBot, type BotQuestion, type BotView } from "./bot-view.ts";
import { Contents } from "./contents.ts";
import {
  type DeliveriesInput,
  type EventTrace,
  type FaultsChange,
  type FaultsState,
  faultsChange,
  type PlatformState,
  type StorageState,
  storageState,
} from "./shapes.ts";

const everything: Visible = { dms: true, others: true };

export const controlSchemas: Schemas<Control> = {
  act: { input: actInput },
  addImage: { input: imageInput },
  events: { limit: z.int().min(1).optional() },
  createToken: { scopes: scopeList },
  createPerson: { input: accountInput },
  createGroup: { input: groupInput },
  setBlock: { input: blockInput },
  setLimits: { change: limitsChange },
  setStorage: { change: storageState },
  saveWebhook: { change: webhookChange },
  setFaults: { change: faultsChange },
  deliver: { input: deliverInput },
  deliveryCommand: { content: deliveryContent },
};

export interface ControlOptions {
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly clockControl: ClockControl;
  readonly clock: PlatformClock;
  readonly timeline: Timeline;
  readonly records: DeliveryRecords;
  readonly calls: CallRecords;
  readonly runs: RunReports;
  /** Requests a bot's status. Default: the global `fetch`. */
  readonly fetch: ((request: Request) => Promise<Response>) | undefined;
}

/**
 * Operations that a bot cannot perform: actions by users and app owners, and faults. The control API serves them.
 *
 * A method about one app takes the username of its bot. Default: the first bot. An unknown username fails with 404
 * NOT_FOUND, and the username of a user with 400 VALIDATION.
 */
export class Control extends Contents {
  /** The platform's time. */
  readonly clock: ClockControl;
  /** Copies of the whole state that can be restored. */
  readonly snapshots: Snapshots;
  /** The bots' inboxes: events, states, timers and crons. */
  readonly inbox: BotInboxes;
  readonly #options: ControlOptions;

  /** @internal */
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

  /** All apps. Each app is a bot with its tokens, webhook and kill switch. */
  get apps(): Apps {
    return this.#world.apps;
  }

  /** Returns a bot with its webhook. */
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
   * Performs an action as a user or a bot.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG; 403 BLOCKED; 404 NOT_FOUND
   */
  act(input: ActInput): ActResult {
    return this.#world.acts.perform(input);
  }

  /**
   * Stores an image for one action. Pass its key in `imageKeys` within an hour.
   *
   * @param input `from`: username of the uploader, created if unknown; `contentType`: expected type of the bytes.
   * Default: any of the five types
   * @throws {PlatformError} 400 VALIDATION, TOO_LARGE; 503 NOT_CONFIGURED, STATE_REPLACED
   */
  async addImage(bytes: Uint8Array, input: ImageInput): Promise<UploadView> {
    return await this.#world.uploads.acceptOf(bytes, input);
  }

  /** Lists a bot's events after `since`, oldest first. By default, there is no limit. */
  events(since?: string, bot?: string, limit?: number): readonly AnyEvent[] {
    const after = since === undefined ? 0 : eventSeq(since);
    if (after === undefined) throw invalid("since must be an event id");
    const page = this.#world.store.events.page(this.#bot(bot).seq, after, everything, limit);
    return page.map(eventOf);
  }

  /**
   * Returns an event with its deliveries and the API calls that it caused.
   *
   * @param bot username; needed only if several bots have a timer or cron event with this id
   * @throws {PlatformError} 404 NOT_FOUND, also while a fault delays the event; 400 VALIDATION if several bots have the
   * event and `bot` is missing
   */
  event(id: string, bot?: string): EventTrace {
    const { records, calls, runs, timeline } = this.#options;
    const found = findEvent(this.#world.store, timeline, id, bot);
    return {
      ...found,
      deliveries: records.holding(id),
      calls: calls.because(id, found.bot),
      runs: runs.of(id, found.bot),
    };
  }

  /**
   * Returns an API call with its request and response.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  call(id: string): CallRecord {
    const record = this.#options.calls.find(id);
    if (record === undefined) throw notFound(`call: ${id}`);
    return record;
  }

  /**
   * Creates a bearer token with these scopes.
   *
   * @param bot username; an unknown bot is created. Default: the first bot
   * @throws {PlatformError} 400 VALIDATION
   */
  createToken(scopes: readonly Scope[], bot?: string): IssuedToken {
    return this.#world.apps.createToken(scopes, bot);
  }

  /** All users, without bots, in order of creation. */
  get people(): readonly Profile[] {
    return this.#world.store.people.all().map(profileOf);
  }

  /**
   * Creates a user. Users named in an action are created automatically.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  createPerson(input: AccountInput): Profile {
    return createPerson(this.#world.store, input);
  }

  /**
   * Creates a group conversation. Writes no event.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG
   */
  createGroup(input: GroupInput): GroupResult {
    const { store } = this.#world;
    const { clock } = this.#options;
    return createGroup(store, input, clock.now());
  }

  get blocks(): readonly Block[] {
    return this.#world.store.blocks.all();
  }

  /**
   * Makes one account block another, or lifts the block.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
   */
  setBlock(input: BlockInput): readonly Block[] {
    return setBlock(this.#world.store, input);
  }

  /** Rate limit and daily quotas, with the first bot's usage. */
  get limits(): LimitsView {
    return this.limitsOf();
  }

  /** Returns the rate limit and the daily quotas, with a bot's usage. */
  limitsOf(bot?: string): LimitsView {
    return this.#world.limits.view(this.#bot(bot).seq);
  }

  /** Sets the given limits for every app. `null` removes a limit. */
  setLimits(change: Partial<LimitSettings>): LimitsView {
    this.#world.limits.set(change);
    return this.limits;
  }

  /** Whether the server can store images. */
  get storage(): StorageState {
    return { configured: this.#world.uploads.configured };
  }

  /** Enables or disables the storage. While it is disabled, uploads get 503 NOT_CONFIGURED. */
  setStorage({ configured }: StorageState): StorageState {
    this.#world.uploads.configured = configured;
    return this.storage;
  }

  /** The first bot's webhook. */
  get webhook(): WebhookView {
    return this.webhookOf();
  }

  /** Returns a bot's webhook. Default: the first bot. */
  webhookOf(bot?: string): WebhookView {
    return this.#world.webhooks.of(this.#bot(bot).seq).view;
  }

  /**
   * Saves the webhook, as its owner would in the developer portal (section 3 of the platform document). Enables the
   * webhook unless `enabled` is false, and resets its failure count.
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

  /** Generates a new webhook secret, which signs all later deliveries. */
  regenerateWebhookSecret(bot?: string): string {
    return this.#world.webhooks.of(this.#bot(bot).seq).regenerateSecret();
  }

  /** Lists the notifications for an app's owner, oldest first. */
  notifications(bot?: string): readonly NotificationView[] {
    const { notifications } = this.#world.store;
    return notifications.of(this.#bot(bot).seq).map(({ seq, at, type, message }) => {
      return { id: idOf("n", seq), at: isoTime(at), type, message };
    });
  }

  /** Active faults. */
  get faults(): FaultsState {
    const { webhookFaults, apiFaults, eventFaults } = this.#world;
    return { webhook: webhookFaults.state, api: apiFaults.state, events: eventFaults.state };
  }

  /**
   * Sets the faults for the given targets. Other targets keep their faults.
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
   * Delivers the given events in order, even if they were delivered before, or delivers a custom body. The delivery
   * schedule does not change: the platform does not retry, and failures do not count.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND; 409 WEBHOOK_OFF, APP_DISABLED; 413 TOO_LARGE
   */
  async deliver(input: DeliverInput, bot?: string): Promise<readonly DeliverResult[]> {
    return this.#world.forced.deliver(this.#bot(bot).seq, input);
  }

  /**
   * Returns the delivery as a curl command, signed with the current time. The command contains the signature but not
   * the secret.
   *
   * @throws {PlatformError} as for {@link deliver}
   */
  deliveryCommand(content: DeliveryContent, bot?: string): DeliveryCommand {
    return this.#world.forced.command(this.#bot(bot).seq, content);
  }

  /** Requests a bot's status. */
  async botView(bot?: string): Promise<BotView> {
    return await askBot(this.#question(this.#bot(bot)));
  }

  /**
   * Resets the state to that of a new file: initial content, initial limits and the machine's time. The first app's
   * tokens and secret, the snapshots and the timeline are kept. Faults end, and requests in progress have no effect.
   */
  reset(): void {
    this.#options.state.reset();
  }

  /**
   * Lists a bot's deliveries, newest first.
   *
   * @param bot username of the receiving bot. Default: the first bot
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
   * Returns a delivery with its request and response.
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

  /** Sends a reported URL only the token used for the report, and only while the token is valid. */
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
