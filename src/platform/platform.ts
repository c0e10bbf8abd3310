import type { Express } from "express";
import { requireNode } from "../core/node-version.ts";
import { RUNS_PATH } from "../core/run-report.ts";
import { Acts } from "./acts/acts.ts";
import { apiRouter } from "./api/router.ts";
import { type Origin, Views } from "./api/views.ts";
import { Apps } from "./apps/apps.ts";
import { CallRecords } from "./calls/records.ts";
import { PlatformClock } from "./clock/platform-clock.ts";
import { Control } from "./control/control.ts";
import { ForcedDeliveries } from "./control/deliveries.ts";
import { controlRouter } from "./control/router.ts";
import { Publisher } from "./events/publisher.ts";
import { ShownEvents } from "./events/shown-events.ts";
import { ApiFaults } from "./faults/api-faults.ts";
import { EventFaults } from "./faults/event-faults.ts";
import { WebhookFaults } from "./faults/webhook-faults.ts";
import { Extensions } from "./http/extensions.ts";
import { PageFiles, PORTAL_FILES } from "./http/page/files.ts";
import { pageRouter } from "./http/page/page.ts";
import { createApp, type Listening, listen } from "./http/server.ts";
import { requireControlToken } from "./http/token-guard.ts";
import { Limits } from "./limits/limits.ts";
import { type PlatformOptions, type Settings, settings } from "./options.ts";
import { runsRouter } from "./runs/router.ts";
import { RunReports } from "./runs/run-reports.ts";
import { newControlToken } from "./secrets.ts";
import { assembleState } from "./state/assemble.ts";
import type { WholeState } from "./state/whole-state.ts";
import { openDatabase } from "./store/database.ts";
import { seed } from "./store/seed.ts";
import { Store } from "./store/store.ts";
import { awaitEntry, type EntryOf, type WaitOptions } from "./timeline/await.ts";
import type { TimelineRecord } from "./timeline/entries.ts";
import { Timeline, type TimelineListener } from "./timeline/timeline.ts";
import { Cleaner } from "./uploads/cleaner.ts";
import { type Download, downloadWith } from "./uploads/download.ts";
import { mediaRouter } from "./uploads/media.ts";
import { type MakeThumbnail, thumbnailsWith } from "./uploads/thumbnail.ts";
import { Uploads } from "./uploads/uploads.ts";
import { DeliveryRecords } from "./webhooks/records.ts";
import { Sender } from "./webhooks/sender.ts";
import { Webhooks } from "./webhooks/webhooks.ts";

interface Parts {
  readonly store: Store;
  readonly timeline: Timeline;
  readonly sender: Sender;
  readonly webhooks: Webhooks;
  readonly timers: readonly { stop(): void }[];
  readonly whole: WholeState;
  readonly origin: Origin;
  readonly control: Control;
  readonly extensions: Extensions;
  readonly app: Express;
  readonly controlToken: string;
}

/**
 * Parts that only tests of the platform itself replace. They are no options: a download that may reach
 * private addresses must not be a setting away.
 */
export interface Replaced {
  readonly download?: Download;
  readonly makeThumbnail?: MakeThumbnail;
  /** The folder of the built page. */
  readonly portalFiles?: URL;
}

/**
 * Starts a local platform: the API v1 under `/api/v1`, webhook deliveries, and the control API under
 * `/control/v1`. Several can run in one process, each with its own port and state.
 *
 * @throws {ConfigError} an option or the state file cannot be used
 * @throws {ServiceBotError} ADDRESS_IN_USE, NODE_TOO_OLD
 */
export async function startPlatform(
  options: PlatformOptions = {},
  replaced: Replaced = {},
): Promise<Platform> {
  requireNode();
  const chosen = settings(options);
  const store = new Store(openDatabase(chosen.stateFile));
  try {
    const { apiKey, webhookSecret, clock } = chosen;
    seed(store, { apiKey, webhookSecret, now: clock.now() });
    const parts = assemble(store, chosen, replaced);
    const listening = await listen(parts.app, chosen.host, chosen.port);
    chosen.logger.info({ url: listening.url }, "local platform listening");
    parts.origin.url = listening.url;
    // What an earlier run had committed late, what it still owed, and what it would have removed by now.
    parts.whole.begin();
    return new Platform(parts, listening);
  } catch (error) {
    store.close();
    throw error;
  }
}

/** The only place where the concrete parts meet. */
function assemble(store: Store, chosen: Settings, replaced: Replaced): Parts {
  const { random, logger, disableAfter, retryIntervalMs, deliveryTimeoutMs } = chosen;
  const clock = new PlatformClock(chosen.clock);
  const timeline = new Timeline(clock);
  const webhookFaults = new WebhookFaults(timeline, random);
  const apiFaults = new ApiFaults(timeline, random);
  const sender = new Sender(clock, deliveryTimeoutMs);
  const records = new DeliveryRecords(timeline);
  const calls = new CallRecords(timeline);
  const shown = new ShownEvents(store);
  const runs = new RunReports({ shown, timeline });
  const webhooks = new Webhooks({
    ...{ store, sender, records, shown, timeline, clock, random, logger },
    ...{ disableAfter, retryIntervalMs },
    faults: webhookFaults,
  });
  const onEvents = (bot: number) => webhooks.wake(bot);
  const eventFaults = new EventFaults({ store, timeline, clock, random, onEvents });
  const publisher = new Publisher({ store, timeline, eventFaults, onEvents });
  const acts = new Acts({ store, publisher, clock });
  const apps = new Apps({ store, webhooks, timeline });
  const forced = new ForcedDeliveries({ store, webhooks, sender, records, shown, timeline });
  const origin: Origin = { url: "" };
  const views = new Views(store.images, origin);
  const limits = new Limits({ usage: store.usage, clock });
  const cleaner = new Cleaner(store.images, clock);
  const { download = downloadWith({ clock: clock.real }), makeThumbnail = thumbnailsWith() } =
    replaced;
  const { portalFiles = PORTAL_FILES } = replaced;
  const { controlToken = newControlToken() } = chosen;
  const uploads = new Uploads({
    ...{ store, clock, limits, views, cleaner },
    ...{ download, makeThumbnail },
  });
  const timers = [eventFaults, cleaner];
  const state = assembleState({
    ...{ store, clock, timeline, limits, uploads, sender, given: chosen.limits },
    faults: [webhookFaults, apiFaults, eventFaults],
    deliveries: webhooks,
    timers,
  });
  const control = new Control({
    ...{ store, acts, apps, webhooks, forced, webhookFaults, apiFaults, eventFaults },
    ...{ records, calls, runs, timeline, clock, views, limits, uploads, ...state },
  });
  const extensions = new Extensions(chosen.extensions, origin);
  const routers = {
    ...extensions.routers,
    "/": pageRouter({ files: new PageFiles(portalFiles) }),
    "/api/v1": apiRouter({
      ...{ store, publisher, views, limits, uploads, shown, calls, clock, logger },
      faults: apiFaults,
    }),
    [RUNS_PATH]: runsRouter(store, runs),
    "/media": mediaRouter(store.images, clock),
    "/control/v1": [requireControlToken(controlToken), controlRouter(control, timeline)],
  };
  return {
    ...{ store, timeline, sender, webhooks, timers, origin, control, extensions },
    whole: state.whole,
    app: createApp({ routers, allowHosts: chosen.allowHosts, clock, logger }),
    controlToken,
  };
}

/** A local platform that is running; {@link startPlatform} makes one. */
export class Platform {
  /** Origin, without `/api/v1`: a bot's SERVICE_BASE_URL. */
  readonly url: string;
  /** The address of the page, with the control token of this run. A browser sends that part to no server. */
  readonly portalUrl: string;
  /** What `/control/v1` offers, in process: acts of people, the webhook's configuration, faults. */
  readonly control: Control;
  /** Token that every request to `/control/v1` sends as `X-Control-Token`. New with each start unless it was set. */
  readonly controlToken: string;
  readonly #parts: Parts;
  readonly #listening: Listening;
  #stopped: Promise<void> | undefined;

  constructor(parts: Parts, listening: Listening) {
    this.#parts = parts;
    this.#listening = listening;
    this.url = listening.url;
    const { controlToken } = parts;
    this.portalUrl = `${listening.url}/#token=${controlToken}`;
    this.controlToken = controlToken;
    this.control = parts.control;
  }

  /** The standard bearer token of the first bot, with every scope. Readable while the platform runs. */
  get apiKey(): string {
    return this.#parts.store.tokens.standard() ?? "";
  }

  /** The secret that signs deliveries to the first bot now. Readable while the platform runs. */
  get webhookSecret(): string {
    const { store } = this.#parts;
    return store.webhook.get(store.people.bot().seq).secret;
  }

  /** Calls `listener` with everything that happens from now on, in order. Returns what ends that. */
  onTimeline(listener: TimelineListener): () => void {
    return this.#parts.timeline.listen(listener);
  }

  /**
   * Resolves to the first timeline entry of this kind that fits, be it there already or still to
   * come. Rejects when none comes in time, or when the platform stops.
   */
  waitFor<K extends TimelineRecord["kind"]>(
    kind: K,
    fits: (entry: EntryOf<K>) => boolean = () => true,
    options: WaitOptions = {},
  ): Promise<EntryOf<K>> {
    return awaitEntry(this.#parts.timeline, kind, fits, options);
  }

  /** Ends everything: deliveries, waiting requests, connections, the database. Can be called twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { timeline, sender, webhooks, timers, store, extensions } = this.#parts;
    timeline.end();
    const closed = this.#listening.close();
    sender.close();
    await webhooks.stop();
    await Promise.all([closed, extensions.close()]);
    for (const timer of timers) timer.stop();
    store.close();
  }
}
