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
 * A webhook receiver with a durable inbox, typed handlers and polling as the fallback.
 *
 * @typeParam S the state of a conversation, from the option `state`
 * @typeParam X fields that middleware has added to the context
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
   * Starts several bots in one process. Each needs a `name`, a port and a database of its own. SIGTERM and SIGINT stop all of
   * them. If one cannot start, the others stop.
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
   * Runs around every handler, in the order of the calls. Fields that a middleware passes with `return next({ user })` are in
   * the context of what comes after it, and in the type of the bot that is returned.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  override use<R>(
    middleware: (context: Context & WithState<S> & X, next: Next) => R,
  ): Bot<S, X & FieldsOf<R>>;
  /**
   * Mounts a module: its handlers run among those of the bot, in the order of the calls.
   *
   * @throws {ServiceBotError} INVALID_OPTION for a module that is mounted here already, or for a name that is taken
   */
  override use<M>(module: WithState<S> & X extends M ? Router<M> : never): this;
  override use(part: never): this {
    super.use(part);
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

  /**
   * The platform's API, with the bot's request budget and circuit breaker. Outside of handlers, before the start as well.
   *
   * @throws {ConfigError} CONFIG_INVALID
   */
  get client(): Client {
    return this.#lifecycle.client;
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
   * Lists the events of the inbox, and retries or discards dead letters. `service-bot inbox` does the same on the
   * command line.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  get inbox(): InboxAdmin {
    return this.#lifecycle.startedParts.inbox.admin;
  }

  /**
   * The webhook as middleware for Express 5: mount it before any body parser. It takes WEBHOOK_PATH, also below the
   * path that it is mounted at. Until the bot has started it answers deliveries with 503. At the root of the application it
   * also answers a local platform, which shows the inbox.
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

  /** Answers a web-standard request as the bot's server would, without a port. */
  handle(request: Request): Promise<Response> {
    return toFetch(this.#lifecycle.startedParts)(request);
  }

  /** Resolves when nothing is being handled or ready to be; what waits for a retry does not count. */
  async idle(): Promise<void> {
    const { schedule, dispatcher } = this.#lifecycle.startedParts;
    await schedule.settled();
    await dispatcher.idle();
  }
}
