import { warnOfBudget } from "./budget-warning.ts";
import { HANDLER_WAIT_MS } from "./client/budget.ts";
import { Client } from "./client/client.ts";
import { type Config, loadConfig } from "./config.ts";
import { type Clock, steadyClock, systemClock } from "./core/clock.ts";
import { secretsOf, showDatabase } from "./core/database-address.ts";
import type { HandlerOptions } from "./core/job.ts";
import { createLogger, type Logger } from "./core/logger.ts";
import { requireNode } from "./core/node-version.ts";
import { exitOnSignals } from "./core/process.ts";
import { scrubber, showError } from "./core/redact.ts";
import { Dispatcher } from "./dispatcher/dispatcher.ts";
import { ConfigError, ServiceBotError } from "./errors.ts";
import { defaultLane, type LaneOf } from "./events/lane.ts";
import { textsOf } from "./events/parse.ts";
import type { EventType } from "./events/types.ts";
import type { InboxAdmin } from "./inbox/admin.ts";
import type { Inbox } from "./inbox/inbox.ts";
import { type BotOptions, checkOptions, type StartOptions } from "./options.ts";
import type { Mode } from "./poller/mode.ts";
import { Poller } from "./poller/poller.ts";
import { expressFace, nodeFace, type WebhookMiddleware, webFace } from "./receiver/faces.ts";
import { Receiver } from "./receiver/receiver.ts";
import type { RouteOptions } from "./receiver/routes.ts";
import { type Listening, listen } from "./receiver/server.ts";
import type { Middleware } from "./router/compose.ts";
import { type ErrorObserver, type Handler, Router } from "./router/router.ts";
import { type BotStatus, readStatus, type StatusSources, writeStatus } from "./status.ts";

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

  /** Runs around every handler, in the order of the calls. */
  use(middleware: Middleware): this {
    this.#router.use(middleware);
    return this;
  }

  /** Handles events of types newer than this version. */
  onUnknown(handler: Handler): this {
    this.#router.onUnknown(handler);
    return this;
  }

  /** Sees what handlers throw; the retry policy decides what happens next. */
  onError(observer: ErrorObserver): this {
    this.#router.onError(observer);
    return this;
  }

  /**
   * Opens the inbox, listens, polls and dispatches. Resolves once the port is bound.
   *
   * @throws {ServiceBotError} CONFIG_INVALID, NODE_TOO_OLD, DRIVER_MISSING, INBOX_IN_USE, INBOX_TOO_NEW,
   *   INBOX_UNUSABLE, ADDRESS_IN_USE, ALREADY_STARTED, unless the bot owns the process
   */
  async start(options: StartOptions = {}): Promise<void> {
    const { listen: listens = true, standalone = listens } = options;
    if (this.#starting !== undefined) {
      throw new ServiceBotError("ALREADY_STARTED", "This bot was started before; make a new one.");
    }
    this.#starting = this.#start(listens);
    if (!standalone) return await this.#starting;
    // From here on, for a signal may come as soon as the bot says that it is ready.
    exitOnSignals(() => this.stop(), process);
    try {
      await this.#starting;
    } catch (error) {
      if (!(error instanceof ServiceBotError)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exit(error instanceof ConfigError || error.code === "NODE_TOO_OLD" ? 2 : 1);
    }
  }

  /** Takes no new work, gives running handlers their time, and closes everything. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** The address that the bot listens on; undefined when it does not. */
  get url(): string | undefined {
    return this.#server?.url;
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
   * The webhook as middleware for Express 5: mount it before any body parser. Until the bot has
   * started it answers deliveries with 503.
   *
   * @throws {ConfigError} CONFIG_INVALID
   */
  middleware(): WebhookMiddleware {
    const { webhookPath } = this.#loadConfig();
    const early = expressFace({ receiver: "starting", path: webhookPath, maxBodyBytes: 0 });
    return (request, response, next) => {
      const face = this.#parts === undefined ? early : expressFace(this.#parts.routes);
      face(request, response, next);
    };
  }

  /** Answers a web-standard request as the bot's server would, without a port. */
  handle(request: Request): Promise<Response> {
    return webFace(this.#started().routes)(request);
  }

  /** Resolves when nothing is being handled or ready to be; what waits for a retry does not count. */
  async idle(): Promise<void> {
    await this.#started().dispatcher.idle();
  }

  async #start(listens: boolean): Promise<void> {
    requireNode();
    const config = this.#loadConfig();
    const parts = await assemble(config, this.#options, this.#router, () => this.#ready);
    this.#parts = parts;
    warnOfTimeouts(this.#options, this.#router, config, parts.log);
    warnOfBudget(config, parts.log);
    try {
      if (listens) this.#server = await listen(nodeFace(parts.routes), config.host, config.port);
    } catch (error) {
      await parts.inbox.close();
      throw error;
    }
    parts.dispatcher.start();
    parts.poller?.start();
    this.#ready = true;
    parts.log.info(readyLine(config, this.#server?.url), "ready");
  }

  #loadConfig(): Config {
    this.#config ??= loadConfig(this.#options.env ?? process.env, this.#options);
    return this.#config;
  }

  async #stop(): Promise<void> {
    // Half a bot cannot be stopped; whether it could start is told to whoever called start().
    await this.#starting?.catch(() => undefined);
    this.#ready = false;
    if (this.#parts === undefined) return;
    const { log, poller, dispatcher, inbox } = this.#parts;
    log.info("stopping");
    await poller?.stop();
    await dispatcher.drain(this.#options.shutdownGraceMs ?? 10_000);
    await this.#server?.close();
    await inbox.close();
    log.info("stopped");
  }

  #started(): Parts {
    if (this.#parts !== undefined) return this.#parts;
    throw new ServiceBotError("NOT_STARTED", "Call and await bot.start() first.");
  }
}

const DAY = 86_400_000;

/** In milliseconds, where `handlerTimeoutMs` is not set. */
const HANDLER_TIMEOUT_MS = 60_000;

/** In milliseconds, where `requestTimeoutMs` is not set. */
const REQUEST_TIMEOUT_MS = 10_000;

/** The parts of a bot that runs. */
interface Parts {
  readonly log: Logger;
  readonly inbox: Inbox;
  readonly dispatcher: Dispatcher;
  /** Absent with DELIVERY=webhook. */
  readonly poller: Poller | undefined;
  readonly routes: RouteOptions;
  readonly status: StatusSources;
}

/** Wires the parts together. Nothing runs yet. */
async function assemble(
  config: Config,
  options: BotOptions,
  router: Router,
  isReady: () => boolean,
): Promise<Parts> {
  const wall = options.clock ?? systemClock;
  const clock = options.clock ?? steadyClock();
  const secrets = [config.apiKey, ...config.webhookSecrets, ...secretsOf(config.database)];
  const log = options.logger ?? createLogger({ level: config.logLevel, secrets });
  const laneOf = safeLane(options.lane ?? defaultLane, log);
  const client = makeClient(config, options, clock, log);
  const inbox = await openInbox(config, options, clock);
  if (options.minFreeBytes !== undefined && !inbox.capabilities.guardsDisk) {
    log.warn("minFreeBytes has no effect: the inbox is not on a disk of this machine");
  }
  const dispatcher = new Dispatcher({
    inbox,
    clock,
    log,
    handler: {
      run: (job) => router.run(job, client),
      optionsFor: (type) => router.optionsFor(type),
      failed: (error, job) => router.observe(error, job),
    },
    concurrency: config.concurrency,
    maxAttempts: config.maxAttempts,
    handlerTimeoutMs: options.handlerTimeoutMs ?? HANDLER_TIMEOUT_MS,
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    backoff: { baseMs: 1_000, maxMs: 300_000, factor: 2, ...options.retry },
    random: options.random ?? Math.random,
    retention: {
      bodiesMs: 7 * DAY,
      idsMs: 30 * DAY,
      deadLettersMs: 90 * DAY,
      ...options.retention,
    },
    scrub: scrubber(secrets),
  });
  const poller = await makePoller(config, options, { inbox, client, laneOf, clock, log });
  const receiver = new Receiver({
    inbox,
    secrets: config.webhookSecrets,
    laneOf,
    // Signatures are dated by the time of day.
    clock: wall,
    steady: clock,
    log,
    onDelivery: (events) => poller?.delivered(events),
  });
  const status: StatusSources = {
    clock,
    startedAt: clock.now(),
    isReady: async () => isReady() && (await answers(inbox)),
    receiver,
    poller,
    inbox,
    client,
  };
  const routes: RouteOptions = {
    receiver: config.delivery === "polling" ? undefined : receiver,
    path: config.webhookPath,
    maxBodyBytes: options.maxBodyBytes ?? 1_048_576,
    isReady: status.isReady,
    report: async () => writeStatus(await readStatus(status)),
  };
  return { log, inbox, dispatcher, poller, routes, status };
}

function makeClient(config: Config, options: BotOptions, clock: Clock, log: Logger): Client {
  return new Client({
    baseUrl: config.baseUrl,
    apiKey: config.apiKey,
    timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    retries: options.requestRetries,
    clock,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    random: options.random ?? Math.random,
    maxRequestsPerMinute: config.maxRequestsPerMinute,
    onRequest: (request) => log.debug(request, "api"),
    onBudget: (wait) => log.warn(wait, "requests wait for MAX_REQUESTS_PER_MINUTE"),
    onBreaker: ({ of, open, retryInMs }) => {
      if (open) log.warn({ of, retryInMs }, "requests to the platform are held back");
      else log.info({ of }, "requests to the platform go out again");
    },
  });
}

async function openInbox(config: Config, options: BotOptions, clock: Clock): Promise<Inbox> {
  const { database, databaseSchema: schema } = config;
  if (database.kind === "postgres") {
    const { PostgresInbox } = await import("./inbox/postgres/postgres-inbox.ts");
    const { random, maxBacklog } = options;
    // A test that stops the clock stops the leases with it; else they are on the database's.
    const now = options.clock && (() => clock.now());
    return await PostgresInbox.open({ url: database.url, schema, clock, now, random, maxBacklog });
  }
  // Loaded late: the native binding must not be touched before the version of Node was checked.
  const { SqliteInbox } = await import("./inbox/sqlite/sqlite-inbox.ts");
  return new SqliteInbox({
    file: database.file,
    clock,
    ...(options.maxBacklog === undefined ? {} : { maxBacklog: options.maxBacklog }),
    ...(options.minFreeBytes === undefined ? {} : { minFreeBytes: options.minFreeBytes }),
  });
}

interface PollerParts {
  readonly inbox: Inbox;
  readonly client: Client;
  readonly laneOf: LaneOf;
  readonly clock: Clock;
  readonly log: Logger;
}

async function makePoller(
  config: Config,
  options: BotOptions,
  parts: PollerParts,
): Promise<Poller | undefined> {
  const { delivery } = config;
  if (delivery === "webhook") return undefined;
  const { inbox, client, clock } = parts;
  return new Poller({
    ...config,
    ...parts,
    delivery,
    webhookTypes: await inbox.webhookTypes(),
    platformNow: () => client.platformNow() ?? clock.now(),
    onSwitch: options.onSwitch ?? (() => undefined),
    random: options.random ?? Math.random,
  });
}

/** A platform that accepts requests and never answers counts as away only if requests give up first. */
function warnOfTimeouts(options: BotOptions, router: Router, config: Config, log: Logger): void {
  const { handlerTimeoutMs = HANDLER_TIMEOUT_MS, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const waitMs = config.maxRequestsPerMinute === undefined ? 0 : HANDLER_WAIT_MS;
  const isShort = (ms: number | undefined) => ms !== undefined && ms <= requestTimeoutMs + waitMs;
  const types = router.handledTypes.filter((type) => isShort(router.optionsFor(type).timeoutMs));
  const short = types.map((type) => `timeoutMs of "${type}"`);
  if (isShort(handlerTimeoutMs)) short.unshift("handlerTimeoutMs");
  if (short.length === 0) return;
  const wait = waitMs === 0 ? "" : ` and ${waitMs} ms of waiting for MAX_REQUESTS_PER_MINUTE`;
  log.warn(
    `${short.join(", ")}: not longer than requestTimeoutMs (${requestTimeoutMs} ms)${wait}, so a platform that ` +
      "does not answer costs events their attempts; raise the one or lower the other",
  );
}

/** A bot's own lane function must not be able to refuse a delivery. */
function safeLane(laneOf: LaneOf, log: Logger): LaneOf {
  return (event) => {
    try {
      return String(laneOf(event));
    } catch (thrown) {
      const error = showError(thrown, scrubber(textsOf(event)));
      log.error(
        { error, event: event.id },
        "the lane option failed; the event keeps its usual lane",
      );
      return defaultLane(event);
    }
  };
}

async function answers(inbox: Inbox): Promise<boolean> {
  return await inbox.ping().then(
    () => true,
    () => false,
  );
}

function readyLine(config: Config, url: string | undefined): Record<string, unknown> {
  const { delivery, webhookPath, database, baseUrl } = config;
  const webhook = url === undefined || delivery === "polling" ? undefined : `${url}${webhookPath}`;
  return { url, webhook, delivery, platform: baseUrl, database: showDatabase(database) };
}
