import { Lifecycle } from "./bot/lifecycle.ts";
import { startTogether } from "./bot/together.ts";
import type { Client } from "./client/client.ts";
import type { Kind } from "./core/kinds.ts";
import { readOptions, requireKind } from "./core/option-checks.ts";
import { checkInitialStateNow } from "./effects/state-value.ts";
import type { InboxAdmin } from "./inbox/admin.ts";
import { type BotStatus, readStatus } from "./observe/status.ts";
import {
  BOT_OPTIONS,
  type BotOptions,
  MIDDLEWARE_OPTIONS,
  type MiddlewareOptions,
  START_OPTIONS,
  type StartOptions,
} from "./options.ts";
import type { Mode } from "./poller/mode.ts";
import {
  endpointsBeforeStart,
  toExpress,
  toFetch,
  type WebhookMiddleware,
} from "./receiver/adapters.ts";
import { beforeStart } from "./receiver/receive.ts";
import type { Context } from "./router/context.ts";
import type { FieldsOf, Next, WithState } from "./router/handler.ts";
import { Router, routesOf } from "./router/router.ts";

/**
 * A webhook receiver with a durable inbox, typed handlers and polling as a fallback. `S` is the type of a
 * conversation's state, from the `state` option. `X` is the type of the fields that middleware adds to the context.
 */
export class Bot<S = unknown, X = unknown> extends Router<WithState<S> & X> {
  readonly #lifecycle: Lifecycle;

  /**
   * Creates a bot, which does nothing until `start`.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(options: BotOptions<S> = {}) {
    super();
    const given = readOptions(options, BOT_OPTIONS);
    if (given.state !== undefined) checkInitialStateNow(given.state);
    this.#lifecycle = new Lifecycle(this, given, routesOf(this));
  }

  /**
   * Starts several bots in one process. Each bot needs its own `name`, port and database. SIGTERM and SIGINT stop all
   * bots. If one bot fails to start, the other bots are stopped.
   *
   * @throws {ServiceBotError} INVALID_OPTION, CONFIG_INVALID, or any error from `start`. With `standalone`, the process
   *   exits instead.
   */
  static async run(bots: readonly Bot[], options: StartOptions = {}): Promise<void> {
    requireKind("bots", bots, BOTS);
    await startTogether(
      bots.map((bot) => bot.#lifecycle),
      readOptions(options, START_OPTIONS),
    );
  }

  /**
   * Adds middleware around every handler. Middleware runs in the order in which it was added. Fields that middleware
   * passes with `return next({ user })` are added to the context of later handlers. The returned bot includes these
   * fields in its type.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  override use<R>(
    middleware: (context: Context & WithState<S> & X, next: Next) => R,
  ): Bot<S, X & FieldsOf<R>>;
  /**
   * Mounts a module. Its handlers run among the bot's own handlers, in registration order.
   *
   * @throws {ServiceBotError} INVALID_OPTION if the module is already mounted, or if a name is already taken
   */
  override use<M>(module: WithState<S> & X extends M ? Router<M> : never): this;
  override use(part: never): this {
    super.use(part);
    return this;
  }

  /**
   * Opens the inbox, starts listening and polling, and dispatches events. Resolves once the port is bound.
   *
   * @throws {ServiceBotError} CONFIG_INVALID, NODE_TOO_OLD, DRIVER_MISSING, INBOX_IN_USE, INBOX_TOO_NEW,
   *   INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE, STORE_UNAVAILABLE, ADDRESS_IN_USE, ALREADY_STARTED.
   *   INVALID_OPTION if an asynchronous `state` schema has no initial state. With `standalone`, the process exits
   *   instead.
   */
  async start(options: StartOptions = {}): Promise<void> {
    await this.#lifecycle.start(readOptions(options, START_OPTIONS));
  }

  /** Stops accepting work, waits up to `shutdownGraceMs` for running handlers to finish, and releases all resources. */
  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /**
   * Client for the platform's API, for use outside handlers. It works even before the bot starts, and shares the bot's
   * request budget and circuit breaker.
   *
   * @throws {ConfigError} CONFIG_INVALID
   */
  get client(): Client {
    return this.#lifecycle.client;
  }

  /** URL the bot is listening on, or `undefined` if the bot is not listening. */
  get url(): string | undefined {
    return this.#lifecycle.url;
  }

  /** URL of the metrics endpoint, or `undefined` if METRICS_PORT is not set. */
  get metricsUrl(): string | undefined {
    return this.#lifecycle.parts?.observers.metricsUrl;
  }

  /** Current event source: the webhook or polling. `undefined` before the start, and if DELIVERY=webhook. */
  get mode(): Mode | undefined {
    return this.#lifecycle.parts?.poller?.mode;
  }

  /**
   * Returns the bot's status, such as its event source, its position in the event log, and the number of waiting events
   * and dead letters. Works even if the store does not respond. Times are in ms since 1970.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  async status(): Promise<BotStatus> {
    return await readStatus(this.#lifecycle.startedParts.status);
  }

  /**
   * Access to the inbox: lists events, and retries or discards dead letters, as `service-bot inbox` does.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  get inbox(): InboxAdmin {
    return this.#lifecycle.startedParts.inbox.admin;
  }

  /**
   * Returns the webhook as Express 5 middleware. Mount it at the application's root, before any body parser. It handles
   * requests whose full path, or path below the mount point, is WEBHOOK_PATH. Until the bot has started, deliveries get
   * a 503. With `health`, it also serves `/healthz` and `/readyz`.
   *
   * To requests with SERVICE_API_KEY or STATUS_TOKEN, the middleware always serves the status (`/readyz?verbose`). A
   * local platform can read the inbox.
   *
   * @throws {ConfigError} CONFIG_INVALID
   * @throws {ServiceBotError} INVALID_OPTION
   */
  middleware(options: MiddlewareOptions = {}): WebhookMiddleware {
    const { health: servesHealth = false } = readOptions(options, MIDDLEWARE_OPTIONS);
    const lifecycle = this.#lifecycle;
    const { apiKey, statusToken, webhookPath } = lifecycle.config;
    const webhook = beforeStart(webhookPath);
    const early = endpointsBeforeStart({ webhook, apiKey, statusToken, webhookPath });
    let isWarned = false;
    const onStray = (path: string) => {
      if (isWarned) return;
      isWarned = true;
      lifecycle.parts?.log.warn(
        { path, expected: webhookPath },
        "a signed request arrived at a path other than WEBHOOK_PATH",
      );
    };
    return toExpress(() => lifecycle.parts ?? early, { onStray, servesHealth });
  }

  /**
   * Handles a web-standard request as the bot's server would, without using a port.
   *
   * @throws {ServiceBotError} INVALID_OPTION, NOT_STARTED
   */
  async handle(request: Request): Promise<Response> {
    requireKind("request", request, REQUEST);
    return await toFetch(this.#lifecycle.startedParts)(request);
  }

  /** Resolves when no event is running or ready to run. Events waiting for a retry do not count. */
  async idle(): Promise<void> {
    const { schedule, dispatcher } = this.#lifecycle.startedParts;
    await schedule.settled();
    await dispatcher.idle();
  }
}

const BOTS: Kind = {
  expected: "an array of bots",
  fits: (value) => Array.isArray(value) && value.every((bot) => bot instanceof Bot),
};

/** Compares fields instead of the class, because a framework may have its own class. */
const REQUEST: Kind = {
  expected: "a web-standard Request",
  fits: (value) => {
    const { url, method, headers } = Object(value);
    return [url, method].every((text) => typeof text === "string") && Symbol.iterator in headers;
  },
};
