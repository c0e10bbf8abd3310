import { Lifecycle } from "./bot/lifecycle.ts";
import { startTogether } from "./bot/together.ts";
import type { Client } from "./client/client.ts";
import { checkOptions, keyProblem, refuseProblems } from "./core/option-checks.ts";
import { isSchema } from "./core/standard-schema.ts";
import type { InboxAdmin } from "./inbox/admin.ts";
import { type BotStatus, readStatus } from "./observe/status.ts";
import { BOT_OPTIONS, type BotOptions, START_OPTIONS, type StartOptions } from "./options.ts";
import type { Mode } from "./poller/mode.ts";
import { toExpress, toFetch, type WebhookMiddleware } from "./receiver/adapters.ts";
import { beforeStart } from "./receiver/receive.ts";
import type { Context } from "./router/context.ts";
import type { FieldsOf, Next, WithState } from "./router/handler.ts";
import { Router, routesOf } from "./router/router.ts";

/**
 * A webhook receiver with a durable inbox, typed handlers and polling as the fallback. `S` is a conversation's state,
 * from the option `state`. `X` holds the fields that middleware added to the context.
 */
export class Bot<S = unknown, X = unknown> extends Router<WithState<S> & X> {
  readonly #lifecycle: Lifecycle;

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: BotOptions<S> = {}) {
    super();
    checkOptions(options, BOT_OPTIONS);
    refuseProblems([keyProblem("name", options.name)]);
    if (options.state !== undefined && !isSchema(options.state)) {
      refuseProblems(["state must be a Standard Schema (v1), such as a zod schema"]);
    }
    this.#lifecycle = new Lifecycle(this, options, routesOf(this));
  }

  /**
   * Starts several bots in one process. Each bot needs its own `name`, port and database. SIGTERM and SIGINT stop all
   * bots. If one bot cannot start, the others stop.
   *
   * @throws {ServiceBotError} CONFIG_INVALID, and the errors of `start`, unless the bots own the process
   */
  static async run(bots: readonly Bot[], options: StartOptions = {}): Promise<void> {
    checkOptions(options, START_OPTIONS);
    await startTogether(
      bots.map((bot) => bot.#lifecycle),
      options,
    );
  }

  /**
   * Adds middleware, which runs around every handler in the order of the calls. Fields that middleware passes with
   * `return next({ user })` are added to the context of later handlers. The returned bot has these fields in its type.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  override use<R>(
    middleware: (context: Context & WithState<S> & X, next: Next) => R,
  ): Bot<S, X & FieldsOf<R>>;
  /**
   * Mounts a module. Its handlers run among the bot's handlers, in the order of the calls.
   *
   * @throws {ServiceBotError} INVALID_OPTION if the bot already contains the module, or if a name is taken
   */
  override use<M>(module: WithState<S> & X extends M ? Router<M> : never): this;
  override use(part: never): this {
    super.use(part);
    return this;
  }

  /**
   * Opens the inbox, listens, polls and dispatches. Resolves once the port is bound.
   *
   * @throws {ServiceBotError} CONFIG_INVALID, NODE_TOO_OLD, DRIVER_MISSING, TRACING_MISSING, INBOX_IN_USE,
   *   INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE, STORE_UNAVAILABLE, ADDRESS_IN_USE, ALREADY_STARTED,
   *   unless the bot owns the process
   */
  async start(options: StartOptions = {}): Promise<void> {
    checkOptions(options, START_OPTIONS);
    await this.#lifecycle.start(options);
  }

  /** Stops accepting work, waits up to `shutdownGraceMs` for running handlers, and closes everything. */
  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /**
   * Client for the platform's API. Shares the bot's request budget and circuit breaker. For use outside handlers, even
   * before the bot starts.
   *
   * @throws {ConfigError} CONFIG_INVALID
   */
  get client(): Client {
    return this.#lifecycle.client;
  }

  /** URL that the bot listens on; `undefined` if it does not listen. */
  get url(): string | undefined {
    return this.#lifecycle.url;
  }

  /** URL of the metrics; `undefined` without METRICS_PORT. */
  get metricsUrl(): string | undefined {
    return this.#lifecycle.parts?.observers.metricsUrl;
  }

  /** Current source of events: the webhook or polling. `undefined` if the bot never reads the event log. */
  get mode(): Mode | undefined {
    return this.#lifecycle.parts?.poller?.mode;
  }

  /**
   * Returns the bot's status: the source of its events, its position in the event log, waiting events and dead letters.
   * Works even if the store does not respond. Times are milliseconds since 1970.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  async status(): Promise<BotStatus> {
    return await readStatus(this.#lifecycle.startedParts.status);
  }

  /**
   * Lists the events in the inbox, and retries or discards dead letters. The command `service-bot inbox` does the same.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  get inbox(): InboxAdmin {
    return this.#lifecycle.startedParts.inbox.admin;
  }

  /**
   * Returns the webhook as Express 5 middleware. Mount it before any body parser. It serves requests whose full path,
   * or path below the mount point, is WEBHOOK_PATH. Until the bot has started, it responds to deliveries with 503. At
   * the application's root, it also lets a local platform read the inbox.
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
        "a signed request arrived at another path than WEBHOOK_PATH",
      );
    };
    return toExpress(
      () => (lifecycle.parts ?? { webhook: early }).webhook,
      onStray,
      () => lifecycle.parts?.health,
    );
  }

  /** Responds to a web-standard request as the bot's server would, without a port. */
  handle(request: Request): Promise<Response> {
    return toFetch(this.#lifecycle.startedParts)(request);
  }

  /** Resolves when no event is running or ready to run. Events that wait for a retry do not count. */
  async idle(): Promise<void> {
    const { schedule, dispatcher } = this.#lifecycle.startedParts;
    await schedule.settled();
    await dispatcher.idle();
  }
}
