import type { Random } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { Acts } from "./acts/acts.ts";
import type { ApiContext } from "./api/api.ts";
import type { LimitSettings } from "./api/limits.ts";
import { Limits } from "./api/limits.ts";
import { Views } from "./api/views.ts";
import { Apps } from "./apps/apps.ts";
import type { PlatformClock } from "./clock.ts";
import { Contents } from "./control/contents.ts";
import { ForcedDeliveries } from "./control/deliveries.ts";
import { Publisher } from "./events/publisher.ts";
import { ShownEvents } from "./events/shown-events.ts";
import { ApiFaults } from "./faults/api-faults.ts";
import { EventFaults } from "./faults/event-faults.ts";
import { WebhookFaults } from "./faults/webhook-faults.ts";
import type { Store } from "./store/store.ts";
import type { CallRecords } from "./timeline/calls.ts";
import type { Timeline } from "./timeline/timeline.ts";
import type { Download } from "./uploads/download.ts";
import type { MakeThumbnail } from "./uploads/thumbnail.ts";
import { Cleaner, Uploads } from "./uploads/uploads.ts";
import type { DeliveryRecords } from "./webhooks/records.ts";
import { Sender } from "./webhooks/sender.ts";
import { Webhooks } from "./webhooks/webhooks.ts";

/** Parts that outlive a state that is replaced. */
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
 * A state with everything that works on it: the only place where these parts meet. When the state is replaced, the world
 * ends as a whole and another one begins, so that what is under way can change nothing in the state that follows.
 */
export class World {
  readonly store: Store;
  readonly acts: Acts;
  readonly apps: Apps;
  readonly api: ApiContext;
  readonly contents: Contents;
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

  /** @param given limits that come before those of the state */
  constructor(store: Store, lasting: Lasting, given: Partial<LimitSettings>) {
    const { url, clock, timeline, records, calls, random, logger } = lasting;
    this.store = store;
    clock.load(store.settings);
    this.webhookFaults = new WebhookFaults(timeline, random);
    this.apiFaults = new ApiFaults(timeline, random);
    this.#sender = new Sender(clock, lasting.deliveryTimeoutMs, lasting.fetch);
    this.shown = new ShownEvents(store);
    const { shown } = this;
    const sender = this.#sender;
    this.webhooks = new Webhooks({
      ...{ store, sender, records, shown, timeline, clock, random, logger },
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
    const views = new Views(store.images, url);
    this.contents = new Contents(store, views);
    this.limits = new Limits({ store, clock, given });
    this.#cleaner = new Cleaner(store.images, clock);
    const { limits } = this;
    this.uploads = new Uploads({
      ...{ store, clock, limits, views },
      cleaner: this.#cleaner,
      download: lasting.download,
      makeThumbnail: lasting.makeThumbnail,
    });
    this.api = {
      ...{ store, publisher, views, limits, shown, calls, clock, logger },
      uploads: this.uploads,
      faults: this.apiFaults,
    };
  }

  /** Begins what the state owes: what was to come late, deliveries, and what is to be removed. */
  begin(): void {
    this.eventFaults.wake();
    this.#cleaner.wake();
    this.webhooks.wakeAll();
  }

  /** Ends everything for another world. Requests that are under way find the store closed. */
  end(): void {
    for (const fault of [this.webhookFaults, this.apiFaults, this.eventFaults]) fault.end();
    this.#sender.cut("the state was replaced");
    this.#sender.close();
    this.webhooks.reset();
    this.#stopTimers();
    this.store.close();
  }

  /** Ends everything with the platform. Resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#sender.close();
    await this.webhooks.stop();
  }

  /** Closes the state, after {@link stop}. */
  close(): void {
    this.#stopTimers();
    this.store.close();
  }

  #stopTimers(): void {
    this.eventFaults.stop();
    this.#cleaner.stop();
  }
}
