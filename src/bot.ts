import { Lifecycle } from "./bot/lifecycle.ts";
import { checkOptions, type HandlerOptions } from "./core/option-checks.ts";
import type { EventType } from "./events/types.ts";
import type { InboxAdmin } from "./inbox/admin.ts";
import { type BotStatus, readStatus } from "./observe/status.ts";
import { BOT_OPTIONS, type BotOptions, START_OPTIONS, type StartOptions } from "./options.ts";
import type { Mode } from "./poller/mode.ts";
import { toExpress, toFetch, type WebhookMiddleware } from "./receiver/adapters.ts";
import { beforeStart } from "./receiver/receive.ts";
import { type ErrorObserver, type Handler, type Middleware, Router } from "./router/router.ts";

/** A webhook receiver with a durable inbox, typed handlers and polling as the fallback. */
export class Bot {
  readonly #router = new Router();
  readonly #lifecycle: Lifecycle;

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: BotOptions = {}) {
    checkOptions(options, BOT_OPTIONS);
    this.#lifecycle = new Lifecycle(this, options, this.#router);
  }

  /**
   * Handles events of a type, or of several. Handlers of one type run one after the other, and share
   * the options: of what was set twice the later one holds.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION
   */
  on<T extends EventType>(
    types: T | readonly T[],
    handler: Handler<T>,
    options: HandlerOptions = {},
  ): this {
    this.#router.on(types, handler, options);
    return this;
  }

  /**
   * Runs around every handler, in the order of the calls.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  use(middleware: Middleware): this {
    this.#router.use(middleware);
    return this;
  }

  /**
   * Handles events of types newer than this version.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onUnknown(handler: Handler): this {
    this.#router.onUnknown(handler);
    return this;
  }

  /**
   * Sees what handlers throw; the retry policy decides what happens next.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onError(observer: ErrorObserver): this {
    this.#router.onError(observer);
    return this;
  }

  /**
   * Opens the inbox, listens, polls and dispatches. Resolves once the port is bound.
   *
   * @throws {ServiceBotError} CONFIG_INVALID, NODE_TOO_OLD, DRIVER_MISSING, TRACING_MISSING, INBOX_IN_USE, INBOX_TOO_NEW,
   *   INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE, STORE_UNAVAILABLE, ADDRESS_IN_USE, ALREADY_STARTED, unless the bot
   *   owns the process
   */
  async start(options: StartOptions = {}): Promise<void> {
    checkOptions(options, START_OPTIONS);
    await this.#lifecycle.start(options);
  }

  /** Takes no new work, gives running handlers their time, and closes everything. */
  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /** The address that the bot listens on; undefined when it does not. */
  get url(): string | undefined {
    return this.#lifecycle.url;
  }

  /** The address of the metrics; undefined without METRICS_PORT. */
  get metricsUrl(): string | undefined {
    return this.#lifecycle.parts?.observers.metricsUrl;
  }

  /** Whether the webhook or polling brings the events now; undefined when the log is never read. */
  get mode(): Mode | undefined {
    return this.#lifecycle.parts?.poller?.mode;
  }

  /**
   * How the bot is doing: what brings the events and why, how far the log is read, what waits and what has
   * died. Times are milliseconds since 1970. Also answered when the store does not.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  async status(): Promise<BotStatus> {
    return await readStatus(this.#lifecycle.startedParts.status);
  }

  /**
   * What is in the inbox, and what becomes of the events that could not be handled. `service-bot inbox` is the
   * same on the command line.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  get inbox(): InboxAdmin {
    return this.#lifecycle.startedParts.inbox.admin;
  }

  /**
   * The webhook as middleware for Express 5: mount it before any body parser. It takes WEBHOOK_PATH, also below the
   * path that it is mounted at. Until the bot has started it answers deliveries with 503.
   *
   * @throws {ConfigError} CONFIG_INVALID
   */
  middleware(): WebhookMiddleware {
    const lifecycle = this.#lifecycle;
    const { webhookPath } = lifecycle.config;
    const early = beforeStart(webhookPath);
    let isWarned = false;
    const onStray = (path: string) => {
      if (isWarned) return;
      isWarned = true;
      lifecycle.parts?.log.warn(
        { path, expected: webhookPath },
        "a signed request passes the webhook by: its path is not WEBHOOK_PATH",
      );
    };
    return toExpress(() => (lifecycle.parts ?? { webhook: early }).webhook, onStray);
  }

  /** Answers a web-standard request as the bot's server would, without a port. */
  handle(request: Request): Promise<Response> {
    return toFetch(this.#lifecycle.startedParts)(request);
  }

  /** Resolves when nothing is being handled or ready to be; what waits for a retry does not count. */
  async idle(): Promise<void> {
    await this.#lifecycle.startedParts.dispatcher.idle();
  }
}
