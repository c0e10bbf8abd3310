import { FUNCTION, NUMBER, oneOf, WAIT } from "../core/kinds.ts";
import type { Logger } from "../core/logger.ts";
import { type OptionTable, readOptions, requireKind } from "../core/option-checks.ts";
import { RUNS_PATH } from "../core/platform-contract.ts";
import { requireNode } from "../core/process.ts";
import { answerApi } from "./api/api.ts";
import { RunReports } from "./api/runs.ts";
import { ClockControl, PlatformClock } from "./clock.ts";
import { Control } from "./control/control.ts";
import { ControlApi } from "./control/control-api.ts";
import { endpointsOf } from "./control/endpoints.ts";
import { inProcess } from "./control/in-process.ts";
import {
  type Answer,
  ConnectionLost,
  completeAnswer,
  errorAnswer,
  toResponse,
} from "./http/answer.ts";
import type { Incoming } from "./http/routes.ts";
import { answerMedia } from "./media.ts";
import { type PlatformOptions, type Settings, settings } from "./options.ts";
import { Page, PORTAL_FILES } from "./page.ts";
import { newControlToken } from "./secrets.ts";
import { Snapshots } from "./snapshots.ts";
import type { Store } from "./store/store.ts";
import { CallRecords } from "./timeline/calls.ts";
import type { TimelineRecord } from "./timeline/entries.ts";
import {
  awaitEntry,
  type EntryOf,
  Timeline,
  type TimelineListener,
  type WaitOptions,
} from "./timeline/timeline.ts";
import { type Download, downloadWith } from "./uploads/download.ts";
import { type MakeThumbnail, thumbnailsWith } from "./uploads/thumbnail.ts";
import { DeliveryRecords } from "./webhooks/records.ts";
import { State } from "./world.ts";

/**
 * Parts that only the platform's own tests replace. They are not public options, because a user must not be able to
 * allow downloads from private addresses.
 */
export interface PlatformOverrides {
  readonly download?: Download;
  readonly makeThumbnail?: MakeThumbnail;
  readonly portalFiles?: URL;
}

/** The kinds of timeline entries. The compiler keeps the list complete. */
const KINDS: Readonly<Record<TimelineRecord["kind"], true>> = {
  event: true,
  delivery: true,
  api: true,
  webhook: true,
  run: true,
  inbox: true,
  app: true,
  fault: true,
  state: true,
};

const WAIT_OPTIONS: OptionTable<WaitOptions> = { after: NUMBER, timeoutMs: WAIT };

interface Parts {
  readonly url: string;
  readonly controlToken: string;
  readonly state: State;
  readonly timeline: Timeline;
  readonly clock: PlatformClock;
  readonly control: Control;
  readonly logger: Logger;
  readonly answer: (mount: string, incoming: Incoming) => Answer | Promise<Answer>;
}

/**
 * Creates a local platform that handles requests in process: the API v1 under `/api/v1`, the control API under
 * `/control/v1`, and webhook deliveries. It does not open a port; {@link startPlatform} does. A process can have
 * several platforms, each with its own state.
 *
 *     const platform = createPlatform({ fetch: (request) => bot.handle(request) });
 *     const response = await platform.fetch(`${platform.url}/api/v1/me`, { headers });
 *
 * @throws {ConfigError} an option or the state file cannot be used
 * @throws {ServiceBotError} NODE_TOO_OLD
 */
export function createPlatform(
  options: PlatformOptions = {},
  replaced: PlatformOverrides = {},
): Platform {
  requireNode();
  const chosen = settings(options);
  const parts = assemble(chosen, replaced);
  // Resume the work of an earlier process: late events, pending deliveries and expired uploads.
  parts.state.world.begin();
  return new Platform(parts);
}

function assemble(chosen: Settings, replaced: PlatformOverrides): Parts {
  const { url, logger, fetch, controlToken = newControlToken() } = chosen;
  const clock = new PlatformClock(chosen.clock);
  const timeline = new Timeline(clock);
  const records = new DeliveryRecords(timeline);
  const calls = new CallRecords(timeline);
  const state = new State({
    ...chosen,
    lasting: {
      ...chosen,
      clock,
      timeline,
      records,
      calls,
      download: replaced.download ?? downloadWith({ clock: clock.real }),
      makeThumbnail: replaced.makeThumbnail ?? thumbnailsWith(),
    },
  });
  const runs = new RunReports({ world: () => state.world, timeline });
  const control = new Control({
    state,
    clock,
    timeline,
    records,
    calls,
    runs,
    fetch,
    clockControl: new ClockControl({ clock, timeline }),
    snapshots: new Snapshots({ state, clock, timeline }),
  });
  const controlApi = new ControlApi(endpointsOf(control, timeline), timeline, controlToken);
  const page = new Page(replaced.portalFiles ?? PORTAL_FILES);
  const mounts: Readonly<Record<string, (incoming: Incoming) => Answer | Promise<Answer>>> = {
    [API]: (incoming) => answerApi(state.world.api, incoming),
    [RUNS_PATH]: (incoming) => runs.answer(incoming),
    [MEDIA]: (incoming) => answerMedia(state.world.store.images, incoming, clock.now()),
    [CONTROL]: (incoming) => controlApi.answer(incoming),
  };
  return {
    url,
    controlToken,
    state,
    timeline,
    clock,
    control,
    logger,
    answer: (mount, incoming) => mounts[mount]?.(incoming) ?? page.answer(incoming),
  };
}

const API = "/api/v1";
const MEDIA = "/media";
const CONTROL = "/control/v1";
const MOUNTS = [API, CONTROL, MEDIA, RUNS_PATH];

/** A local platform, created by {@link createPlatform} without a port or by {@link startPlatform} with one. */
export class Platform {
  /** Origin, without `/api/v1`. A bot needs this value as its SERVICE_BASE_URL. */
  readonly url: string;
  /** Portal URL, with the control token in its fragment, because browsers never send the fragment to a server. */
  readonly portalUrl: string;
  /** The operations of `/control/v1`, in process: actions by users, webhook configuration, faults. */
  readonly control: Control;
  /** Token for requests to `/control/v1`, sent as `X-Control-Token`. By default, every startup creates a new token. */
  readonly controlToken: string;
  readonly #parts: Parts;
  readonly #closers: (() => Promise<void>)[] = [];
  #stopped: Promise<void> | undefined;

  /** @internal */
  constructor(parts: Parts) {
    const { url, controlToken, control } = parts;
    this.#parts = parts;
    this.url = url;
    this.portalUrl = `${url}/#token=${controlToken}`;
    this.controlToken = controlToken;
    this.control = inProcess(control);
  }

  /**
   * The first bot's standard token, which has every scope. If it was revoked, the bot's newest other token, or an empty
   * string if the bot has none. Readable until the platform stops.
   */
  get apiKey(): string {
    const { tokens, people } = this.#store;
    return tokens.standard() ?? tokens.keysOf(people.bot().seq).at(-1)?.apiKey ?? "";
  }

  /** The first bot's current webhook secret. Readable until the platform stops. */
  get webhookSecret(): string {
    const { webhook, people } = this.#store;
    return webhook.get(people.bot().seq).secret;
  }

  /**
   * Handles a request in process, as `fetch` would over the network. Pass it to a client or bot as its `fetch`. Rejects
   * if a fault drops the response or the platform stops.
   */
  readonly fetch = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { signal } = request;
    signal.throwIfAborted();
    const gone = AbortSignal.any([signal, this.#parts.timeline.ended]);
    try {
      return toResponse(await this.respond(request, gone));
    } finally {
      signal.throwIfAborted();
    }
  };

  /**
   * Handles a request from an adapter.
   *
   * @param gone aborts when the client disconnects
   * @throws {ConnectionLost} if the adapter must cut the connection without a response
   */
  async respond(request: Request, gone: AbortSignal): Promise<Answer> {
    const { timeline, clock, logger, answer } = this.#parts;
    if (timeline.ended.aborted) throw new ConnectionLost();
    const url = new URL(request.url);
    const { pathname } = url;
    const mount = MOUNTS.find((one) => pathname === one || pathname.startsWith(`${one}/`)) ?? "";
    const path = pathname.slice(mount.length) || "/";
    const { method } = request;
    let answered: Answer;
    try {
      answered = await answer(mount, { request, method, path, url, gone });
    } catch (error) {
      if (error instanceof ConnectionLost) throw error;
      answered = errorAnswer(error, logger);
    }
    return completeAnswer(answered, method, clock.now());
  }

  /**
   * Calls `listener` with each new timeline entry, in order. Returns an unsubscribe function.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onTimeline(listener: TimelineListener): () => void {
    requireKind("listener", listener, FUNCTION);
    return this.#parts.timeline.listen(listener);
  }

  /**
   * Resolves with the first matching timeline entry of this kind. The entry may already exist. Rejects after the
   * timeout, or when the platform stops.
   *
   * @throws {PlatformError} 408 TIMEOUT
   * @throws {ServiceBotError} INVALID_OPTION
   */
  async waitFor<K extends TimelineRecord["kind"]>(
    kind: K,
    fits: (entry: EntryOf<K>) => boolean = () => true,
    options: WaitOptions = {},
  ): Promise<EntryOf<K>> {
    requireKind("kind", kind, oneOf(Object.keys(KINDS)));
    requireKind("fits", fits, FUNCTION);
    const { timeline } = this.#parts;
    return await awaitEntry(timeline, kind, fits, readOptions(options, WAIT_OPTIONS));
  }

  /**
   * Registers a callback to run when the platform stops, for example to close a server.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  closeWith(close: () => Promise<void>): void {
    requireKind("close", close, FUNCTION);
    this.#closers.push(close);
  }

  /**
   * Stops deliveries and waiting requests, then closes connections and the database. Later calls return the same
   * promise.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { timeline, state } = this.#parts;
    timeline.end();
    const closed = this.#closers.map((close) => close());
    await state.world.stop();
    await Promise.all(closed);
    state.world.close();
  }

  get #store(): Store {
    return this.#parts.state.world.store;
  }
}
