import { assemble, type Parts } from "./bot/assemble.ts";
import { exitWith } from "./bot/exit.ts";
import { warnOfPlainHttp } from "./bot/plain-http-warning.ts";
import { warnOfTimeouts } from "./bot/timeout-warning.ts";
import { warnOfBudget } from "./budget-warning.ts";
import { type Config, loadConfig } from "./config.ts";
import { systemClock } from "./core/clock.ts";
import { showDatabase } from "./core/database-address.ts";
import { inStages } from "./core/in-stages.ts";
import type { HandlerOptions } from "./core/job.ts";
import { requireNode } from "./core/node-version.ts";
import { processOwners, untilEnded } from "./core/process.ts";
import { ServiceBotError } from "./errors.ts";
import type { EventType } from "./events/types.ts";
import type { InboxAdmin } from "./inbox/admin.ts";
import { type BotStatus, readStatus } from "./observe/status.ts";
import { type BotOptions, checkOptions, checkStartOptions, type StartOptions } from "./options.ts";
import type { Mode } from "./poller/mode.ts";
import { toExpress, toFetch, toNodeListener, type WebhookMiddleware } from "./receiver/adapters.ts";
import { beforeStart } from "./receiver/receive.ts";
import { type Listening, listen } from "./receiver/server.ts";
import type { Middleware } from "./router/router.ts";
import { type ErrorObserver, type Handler, Router } from "./router/router.ts";

/** What handlers have brought about is written within this after their time, in milliseconds, or not at all. */
const STORE_MS = 5_000;

/** A webhook receiver with a durable inbox, typed handlers and polling as the fallback. */
export class Bot {
  readonly #options: BotOptions;
  readonly #router = new Router();
  #config: Config | undefined;
  #parts: Parts | undefined;
  #server: Listening | undefined;
  #starting: Promise<void> | undefined;
  #ready = false;
  #stopped: Promise<void> | undefined;
  /** Aborts when the store is waited for no more. */
  readonly #deadline = new AbortController();

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: BotOptions = {}) {
    checkOptions(options);
    this.#options = options;
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
    checkStartOptions(options);
    const { listen: listens = true, standalone = listens } = options;
    if (this.#starting !== undefined) {
      throw new ServiceBotError("ALREADY_STARTED", "This bot was started before; make a new one.");
    }
    this.#starting = this.#start(listens, standalone);
    if (!standalone) return await this.#starting;
    // From here on, for a signal may come as soon as the bot says that it is ready.
    processOwners.add(() => this.stop());
    try {
      await this.#starting;
    } catch (error) {
      if (!(error instanceof ServiceBotError)) throw error;
      await exitWith(error);
    }
  }

  /** Takes no new work, gives running handlers their time, and closes everything. */
  stop(): Promise<void> {
    this.#stopped ??= untilEnded(this.#stop());
    return this.#stopped;
  }

  /** The address that the bot listens on; undefined when it does not. */
  get url(): string | undefined {
    return this.#server?.url;
  }

  /** The address of the metrics; undefined without METRICS_PORT. */
  get metricsUrl(): string | undefined {
    return this.#parts?.observers.metricsUrl;
  }

  /** Whether the webhook or polling brings the events now; undefined when the log is never read. */
  get mode(): Mode | undefined {
    return this.#parts?.poller?.mode;
  }

  /**
   * How the bot is doing: what brings the events and why, how far the log is read, what waits and what has
   * died. Times are milliseconds since 1970. Also answered when the store does not.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  async status(): Promise<BotStatus> {
    return await readStatus(this.#started().status);
  }

  /**
   * What is in the inbox, and what becomes of the events that could not be handled. `service-bot inbox` is the
   * same on the command line.
   *
   * @throws {ServiceBotError} NOT_STARTED
   */
  get inbox(): InboxAdmin {
    return this.#started().inbox.admin;
  }

  /**
   * The webhook as middleware for Express 5: mount it before any body parser. It takes WEBHOOK_PATH, also below the
   * path that it is mounted at. Until the bot has started it answers deliveries with 503.
   *
   * @throws {ConfigError} CONFIG_INVALID
   */
  middleware(): WebhookMiddleware {
    const { webhookPath } = this.#loadConfig();
    const early = beforeStart(webhookPath);
    let isWarned = false;
    const onStray = (path: string) => {
      if (isWarned) return;
      isWarned = true;
      this.#parts?.log.warn(
        { path, expected: webhookPath },
        "a signed request passes the webhook by: its path is not WEBHOOK_PATH",
      );
    };
    return toExpress(() => (this.#parts === undefined ? early : this.#parts.webhook), onStray);
  }

  /** Answers a web-standard request as the bot's server would, without a port. */
  handle(request: Request): Promise<Response> {
    return toFetch(this.#started())(request);
  }

  /** Resolves when nothing is being handled or ready to be; what waits for a retry does not count. */
  async idle(): Promise<void> {
    await this.#started().dispatcher.idle();
  }

  async #start(listens: boolean, standalone: boolean): Promise<void> {
    requireNode();
    const config = this.#loadConfig();
    const parts = await assemble({
      bot: this,
      config,
      options: this.#options,
      router: this.#router,
      isReady: () => this.#ready,
      deadline: this.#deadline.signal,
    });
    warnOfPlainHttp(config, parts.log);
    warnOfTimeouts(this.#options, this.#router, config, parts.log);
    warnOfBudget(config, parts.log);
    try {
      // First, for it tells whether the inbox may be used: nothing is taken before.
      await parts.cluster.start((error) => this.#giveUp(error, parts, standalone));
      await parts.observers.serve();
      if (listens) this.#server = await listen(toNodeListener(parts), config.host, config.port);
    } catch (error) {
      const { cluster, inbox, log, observers } = parts;
      const closing = () =>
        inStages([[() => cluster.stop(), () => observers.close()], [() => inbox.close()]]);
      await this.#withDeadline(STORE_MS, closing).catch((err: unknown) =>
        log.error({ err }, "the bot cannot be closed"),
      );
      observers.end();
      throw error;
    }
    this.#parts = parts;
    this.#handle(parts);
    parts.poller?.start();
    this.#ready = true;
    const metrics = this.metricsUrl;
    parts.observers.announce();
    parts.log.info({ ...readyLine(config, this.#server?.url), metrics }, "ready");
  }

  /** Starts the handlers. In a restored inbox they wait for the event log. */
  #handle({ dispatcher, restore, poller, log }: Parts): void {
    if (restore === undefined) {
      dispatcher.start();
      return;
    }
    restore.start(poller).then(
      (mayBegin) => mayBegin && dispatcher.start(),
      (err: unknown) => log.error({ err }, "events cannot be handled after the restore"),
    );
  }

  #loadConfig(): Config {
    this.#config ??= loadConfig(this.#options.env ?? process.env, this.#options);
    return this.#config;
  }

  /** The inbox is not this bot's to use any more. */
  #giveUp(error: ServiceBotError, parts: Parts, standalone: boolean): void {
    const { log, receiver, dispatcher } = parts;
    log.error({ err: error }, "the inbox cannot be used any more, and the bot stops");
    receiver.close();
    dispatcher.stopClaiming();
    // What a newer version has not taken over is brought to its end; what was copied is handled elsewhere.
    if (error.code !== "INBOX_TOO_NEW") dispatcher.abandon();
    const stopped = this.stop().catch((err: unknown) => log.error({ err }, "the stop failed"));
    if (standalone) void stopped.then(() => exitWith(error));
  }

  async #stop(): Promise<void> {
    const graceMs = this.#options.shutdownGraceMs ?? 10_000;
    await this.#withDeadline(graceMs + STORE_MS, () => this.#end(graceMs));
  }

  /** A store that does not answer must not keep the bot from its end. */
  async #withDeadline(ms: number, work: () => Promise<void>): Promise<void> {
    const { clock = systemClock } = this.#options;
    const cancel = clock.timer(ms, () => this.#deadline.abort(), { background: true });
    await work().finally(cancel);
  }

  async #end(graceMs: number): Promise<void> {
    // Half a bot cannot be stopped; whether it could start is told to whoever called start().
    await this.#starting?.catch(() => undefined);
    this.#ready = false;
    if (this.#parts === undefined) return;
    const { log, observers, poller, dispatcher, restore, cluster, inbox } = this.#parts;
    log.info("stopping");
    await inStages([
      // At once, so that another instance goes on with the log while this one's handlers end.
      [() => poller?.stop(), () => dispatcher.drain(graceMs), () => restore?.stop()],
      // The metrics are served to the last, because a stop is watched, too.
      [() => this.#server?.close(), () => observers.close()],
      [() => cluster.stop()],
      [() => inbox.close()],
    ]);
    observers.end();
    log.info("stopped");
  }

  #started(): Parts {
    if (this.#parts !== undefined) return this.#parts;
    throw new ServiceBotError("NOT_STARTED", "Call and await bot.start() first.");
  }
}

function readyLine(config: Config, url: string | undefined): Record<string, unknown> {
  const { delivery, webhookPath, database, baseUrl } = config;
  const webhook = url === undefined || delivery === "polling" ? undefined : `${url}${webhookPath}`;
  return { url, webhook, delivery, platform: baseUrl, database: showDatabase(database) };
}
