import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { Random } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { Acts } from "./acts/acts.ts";
import type { ApiContext } from "./api/api.ts";
import { Apps } from "./apps.ts";
import type { PlatformClock } from "./clock.ts";
import { Publisher } from "./events/publisher.ts";
import { ShownEvents } from "./events/shown-events.ts";
import { ApiFaults } from "./faults/api-faults.ts";
import { EventFaults } from "./faults/event-faults.ts";
import { WebhookFaults } from "./faults/webhook-faults.ts";
import { type LimitSettings, Limits } from "./limits.ts";
import { MEMORY, openBytes, openDatabase } from "./store/database.ts";
import { seed } from "./store/seed.ts";
import { Store } from "./store/store.ts";
import { openUpload } from "./store/upload.ts";
import type { CallRecords } from "./timeline/calls.ts";
import type { Timeline } from "./timeline/timeline.ts";
import type { Download } from "./uploads/download.ts";
import type { MakeThumbnail } from "./uploads/thumbnail.ts";
import { Cleaner, Uploads } from "./uploads/uploads.ts";
import { Views } from "./views.ts";
import { ForcedDeliveries } from "./webhooks/forced.ts";
import type { DeliveryRecords } from "./webhooks/records.ts";
import { Sender } from "./webhooks/sender.ts";
import { Webhooks } from "./webhooks/webhooks.ts";

/** Parts that are kept when the state is replaced. */
export interface Lasting {
  readonly url: string;
  readonly clock: PlatformClock;
  readonly timeline: Timeline;
  readonly records: DeliveryRecords;
  readonly calls: CallRecords;
  readonly random: Random;
  readonly logger: Logger;
  readonly fetch: ((request: Request) => Promise<Response>) | undefined;
  readonly download: Download;
  readonly makeThumbnail: MakeThumbnail;
  readonly disableAfter: number;
  readonly retryIntervalMs: number;
  readonly deliveryTimeoutMs: number;
}

/**
 * A state and all parts that use it. Replacing the state ends the whole world and starts a new one, so that work in
 * progress cannot change the new state.
 */
export class World {
  readonly store: Store;
  readonly acts: Acts;
  readonly apps: Apps;
  readonly api: ApiContext;
  readonly views: Views;
  readonly forced: ForcedDeliveries;
  readonly webhooks: Webhooks;
  readonly webhookFaults: WebhookFaults;
  readonly apiFaults: ApiFaults;
  readonly eventFaults: EventFaults;
  readonly limits: Limits;
  readonly shown: ShownEvents;
  readonly uploads: Uploads;
  readonly #sender: Sender;
  readonly #cleaner: Cleaner;

  /** @param given limits that override the stored ones */
  constructor(store: Store, lasting: Lasting, given: Partial<LimitSettings>) {
    const { url, clock, timeline, records, calls, random, logger } = lasting;
    this.store = store;
    clock.load(store.settings);
    this.webhookFaults = new WebhookFaults(timeline, random);
    this.apiFaults = new ApiFaults(timeline, random, clock.real);
    this.#sender = new Sender(clock, lasting.deliveryTimeoutMs, lasting.fetch);
    this.shown = new ShownEvents(store, timeline);
    const { shown } = this;
    const sender = this.#sender;
    this.webhooks = new Webhooks({
      store,
      sender,
      records,
      shown,
      timeline,
      clock,
      random,
      logger,
      disableAfter: lasting.disableAfter,
      retryIntervalMs: lasting.retryIntervalMs,
      faults: this.webhookFaults,
    });
    const { webhooks } = this;
    const onEvents = (bot: number) => webhooks.wake(bot);
    this.eventFaults = new EventFaults({ store, timeline, clock, random, onEvents });
    const publisher = new Publisher({ store, timeline, eventFaults: this.eventFaults, onEvents });
    this.acts = new Acts({ store, publisher, clock });
    this.apps = new Apps({ store, webhooks, timeline });
    this.forced = new ForcedDeliveries({ store, webhooks, sender, records, shown, timeline });
    this.views = new Views(store.images, url);
    this.limits = new Limits({ store, clock, given });
    this.#cleaner = new Cleaner(store.images, clock);
    const { limits, views } = this;
    this.uploads = new Uploads({
      store,
      clock,
      limits,
      views,
      cleaner: this.#cleaner,
      download: lasting.download,
      makeThumbnail: lasting.makeThumbnail,
    });
    this.api = {
      store,
      publisher,
      views,
      limits,
      shown,
      calls,
      clock,
      logger,
      uploads: this.uploads,
      faults: this.apiFaults,
    };
  }

  /** Resumes pending work: late events, deliveries and the removal of expired uploads. */
  begin(): void {
    this.eventFaults.wake();
    this.#cleaner.wake();
    this.webhooks.wakeAll();
  }

  /** Ends this world before a new one replaces it. Requests in progress then find the store closed. */
  end(): void {
    for (const fault of [this.webhookFaults, this.apiFaults, this.eventFaults]) fault.end();
    this.#sender.cut("the state was replaced");
    this.#sender.close();
    this.webhooks.reset();
    this.#stopTimers();
    this.store.close();
  }

  /** Stops the schedules when the platform stops. Resolves once no delivery is in flight. */
  async stop(): Promise<void> {
    this.#sender.close();
    await this.webhooks.stop();
  }

  /** Call {@link stop} first. */
  close(): void {
    this.#stopTimers();
    this.store.close();
  }

  #stopTimers(): void {
    this.eventFaults.stop();
    this.#cleaner.stop();
  }
}

export interface StateOptions {
  readonly lasting: Lasting;
  readonly stateFile: string;
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
  /** Initial limits, which a reset restores. */
  readonly limits: Partial<LimitSettings>;
}

/** Holds the current state and replaces it. A copy of the state is a SQLite file. */
export class State {
  readonly #options: StateOptions;
  #world: World;

  /** @throws {ConfigError} if the file cannot be used */
  constructor(options: StateOptions) {
    this.#options = options;
    const { lasting, stateFile, apiKey, webhookSecret, limits } = options;
    const store = new Store(openDatabase(stateFile));
    try {
      seed(store, { apiKey, webhookSecret, now: lasting.clock.real.now() });
      this.#world = new World(store, lasting, limits);
    } catch (error) {
      store.close();
      throw error;
    }
  }

  get world(): World {
    return this.#world;
  }

  copy(): Uint8Array {
    return this.#world.store.copy();
  }

  /**
   * Migrates an uploaded file to this version. This platform's standard token and webhook secret replace those in the
   * file, so that the bot continues to work.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  convertUpload(file: Uint8Array): Uint8Array {
    const other = openUpload(file);
    try {
      seed(other, { ...this.#secrets(), now: this.#options.lasting.clock.now() });
      return other.copy();
    } finally {
      other.close();
    }
  }

  /**
   * Replaces the whole state with a copy.
   *
   * @param copy result of `copy` or `convertUpload`
   * @param name description for the timeline
   */
  restore(copy: Uint8Array, name: string): void {
    this.#replace(new Store(openBytes(copy)), {}, { change: "restored", detail: name });
  }

  /** Replaces the state with a new one. The first app keeps its tokens and its secret. */
  reset(): void {
    const { lasting, limits } = this.#options;
    const { tokens, people } = this.#world.store;
    const next = new Store(openDatabase(MEMORY));
    seed(next, { ...this.#secrets(), now: lasting.clock.real.now() });
    const bot = next.people.bot().seq;
    for (const { apiKey, scopes } of tokens.keysOf(people.bot().seq)) {
      next.tokens.add(apiKey, bot, scopes);
    }
    this.#replace(next, limits, { change: "reset", detail: "a new state" });
  }

  /**
   * Replaces the state. New events get numbers that neither state has used, because a bot would ignore a reused number
   * as a duplicate.
   */
  #replace(
    next: Store,
    limits: Partial<LimitSettings>,
    entry: { readonly change: "restored" | "reset"; readonly detail: string },
  ): void {
    const { lasting } = this.#options;
    const before = this.#world.store;
    before.requireNoTransaction();
    next.events.raiseFloor(Math.max(before.events.highestSeq(), next.events.highestSeq()));
    const open = this.#place(next);
    this.#world.end();
    this.#world = new World(open(), lasting, limits);
    lasting.timeline.add({ kind: "state", ...entry });
    this.#world.begin();
  }

  /** Prepares the new state. The current state is replaced only when the returned function is called. */
  #place(next: Store): () => Store {
    const { stateFile } = this.#options;
    if (stateFile === MEMORY) return () => next;
    const beside = `${stateFile}.new`;
    writeFileSync(beside, next.copy(), { mode: 0o600 });
    next.close();
    return () => {
      renameSync(beside, stateFile);
      for (const end of ["-wal", "-shm"]) rmSync(stateFile + end, { force: true });
      return new Store(openDatabase(stateFile));
    };
  }

  #secrets(): { apiKey: string | undefined; webhookSecret: string } {
    const { tokens, webhook, people } = this.#world.store;
    return { apiKey: tokens.standard(), webhookSecret: webhook.get(people.bot().seq).secret };
  }
}
