import { Client } from "../client/client.ts";
import { transportOf } from "../client/transport.ts";
import { type Config, defaultBodyBytes } from "../config.ts";
import { isLoopback } from "../core/addresses.ts";
import { BodyBudget } from "../core/body-budget.ts";
import type { Random } from "../core/clock.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { secretsOf } from "../core/database-address.ts";
import { createLogger, type Logger } from "../core/logger.ts";
import { secretScrubber } from "../core/secret-scrubber.ts";
import { SharedCall } from "../core/shared-call.ts";
import { Dispatcher, type DispatcherOptions } from "../dispatcher/loop.ts";
import { defaultLane, type LaneOf, safeLane } from "../events/lane.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { Observers } from "../observe/observers.ts";
import { readStatus, type StatusSources, writeStatus } from "../observe/status.ts";
import { type BotOptions, defaults } from "../options.ts";
import { SharedPeers } from "../poller/leader.ts";
import { Poller } from "../poller/poller.ts";
import type { Endpoints, HealthOptions } from "../receiver/adapters.ts";
import type { LocalChannel } from "../receiver/local-channel.ts";
import { Receiver } from "../receiver/receive.ts";
import { Handlers } from "../router/handling.ts";
import type { Routes } from "../router/routes.ts";
import { Schedule } from "../schedule/schedule.ts";
import { RestoreWindow } from "../steps/restore.ts";
import { LastDelivery } from "./last-delivery.ts";
import { Membership, type MembershipOptions } from "./membership.ts";

/** Number of maximum-size bodies that the bot can read at once. */
const BODIES = 2;

/** Time within which requests to `/readyz?verbose` share one store query, in ms. */
const REPORT_KEPT_MS = 1_000;

export interface Parts extends Endpoints {
  readonly log: Logger;
  readonly observers: Observers;
  readonly inbox: Inbox;
  readonly dispatcher: Dispatcher;
  readonly schedule: Schedule;
  readonly receiver: Receiver;
  /** `undefined` if DELIVERY=webhook. */
  readonly poller: Poller | undefined;
  /** `undefined` if the inbox was never restored. */
  readonly restore: RestoreWindow | undefined;
  /** `undefined` if the inbox serves only one process. */
  readonly membership: Membership | undefined;
  readonly lastDelivery: LastDelivery;
  readonly status: StatusSources;
}

interface Setup {
  /** The bot object that channel messages contain. */
  readonly bot: object;
  readonly config: Config;
  readonly options: BotOptions;
  readonly routes: Routes;
  readonly clock: Clock;
  readonly client: Client;
  readonly isStarted: () => boolean;
  /** Aborts when a stopping bot no longer waits for the store. */
  readonly deadline: AbortSignal;
}

interface Common extends Setup {
  readonly log: Logger;
  readonly random: Random;
  readonly observers: Observers;
  readonly inbox: Inbox;
  readonly scrub: (text: string) => string;
  /** Time of day. Signatures, dates and cron jobs need it, and the steady clock does not follow it. */
  readonly wall: Clock;
  readonly laneOf: LaneOf;
  /** In ms. */
  readonly leaseMs: number;
}

/** Wires the components together without starting any of them. */
export async function assemble(setup: Setup): Promise<Parts> {
  const { bot, config, options } = setup;
  const { random = Math.random, clock: wall = systemClock, leaseMs = defaults.leaseMs } = options;
  const secrets = secretsIn(config);
  const log = withBotName(
    options.logger ?? createLogger({ level: config.logLevel, secrets }),
    options,
  );
  const send = transportOf(options.fetch);
  const observers = await Observers.create(bot, { config, send, log, clock: setup.clock });
  try {
    const inbox = await openInbox(setup, log);
    try {
      const scrub = secretScrubber(secrets);
      const laneOf = options.lane === undefined ? defaultLane : safeLane(options.lane, log);
      return await wire({
        ...setup,
        log,
        random,
        observers,
        inbox,
        scrub,
        wall,
        laneOf,
        leaseMs,
      });
    } catch (error) {
      await inbox.close().catch((err: unknown) => log.error({ err }, "could not close the inbox"));
      throw error;
    }
  } catch (error) {
    observers.end();
    throw error;
  }
}

export function secretsIn({ apiKey, webhookSecrets, statusToken, database }: Config): string[] {
  const tokens = statusToken === undefined ? [apiKey] : [apiKey, statusToken];
  // Read the database's secrets from `process.env`, because the driver reads its password there even if the `env`
  // option is set.
  return [...tokens, ...webhookSecrets, ...secretsOf(database, process.env)];
}

function withBotName(log: Logger, { name }: BotOptions): Logger {
  return name === undefined ? log : log.child({ bot: name });
}

async function wire(common: Common): Promise<Parts> {
  const { bot, config, options, routes, client, log, observers, inbox } = common;
  const { clock, wall, laneOf, leaseMs } = common;
  const { shared } = inbox;
  // Half the lane lease, so that another instance starts reading the event log before it takes over a dead instance's
  // lanes.
  const peers = shared && new SharedPeers({ shared, clock, log, bot, leaseMs: leaseMs / 2 });
  const restore = await RestoreWindow.open({ inbox, client, clock, log });
  const poller = await createPoller(common, { peers, restore });
  const handler = new Handlers({
    routes,
    client,
    clock,
    laneOf,
    loopGuard: options.loopGuard,
    state: options.state,
  });
  const dispatcher = createDispatcher(common, { restore, handler });
  const schedule = new Schedule({ inbox, clock, wall, log, routes });
  const receiver = createReceiver(common, poller);
  const lastDeliveryAt = () => receiver.history.lastDeliveryAt;
  const lastDelivery = await LastDelivery.open({ inbox, clock, log, lastDeliveryAt });
  const membership = shared && createMembership(common, { shared, lastDeliveryAt });
  const ping = new SharedCall(() => answers(inbox));
  const isReady = async () => common.isStarted() && (await ping.get());
  const status = {
    clock,
    wall,
    startedAt: clock.now(),
    isReady,
    config,
    receiver: receiver.history,
    earlier: lastDelivery,
    poller,
    inbox,
    client,
    restored: restore,
    storeHealth: observers.storeHealth,
    loopGuard: handler.guard,
  };
  observers.watch({ ...status, isStarted: common.isStarted, dispatcher });
  const webhook = config.delivery === "polling" ? undefined : receiver;
  const health = createHealth(config, status, { log, inbox: inbox.admin, schedule });
  return {
    webhook,
    health,
    receiver,
    log,
    observers,
    inbox,
    poller,
    schedule,
    dispatcher,
    restore,
    membership,
    lastDelivery,
    status,
  };
}

async function openInbox(
  { bot, config, options, clock, deadline }: Setup,
  log: Logger,
): Promise<Inbox> {
  const { database, databaseSchema: schema } = config;
  if (database.kind === "postgres") {
    const { PostgresInbox } = await import("../inbox/postgres/postgres-inbox.ts");
    const { random, maxBacklog } = options;
    // With a test clock, leases stop when the clock stops. Otherwise they use the database's clock.
    const now = options.clock && (() => clock.now());
    const { url } = database;
    const shared = { clock, now, random, maxBacklog, deadline, bot };
    return await PostgresInbox.open({ url, schema, ...shared });
  }
  // Import late, because Node's version must be checked before the native binding is loaded.
  const { SqliteInbox } = await import("../inbox/sqlite/sqlite-inbox.ts");
  const inbox = new SqliteInbox({
    file: database.file,
    clock,
    bot,
    ...(options.maxBacklog === undefined ? {} : { maxBacklog: options.maxBacklog }),
    ...(options.minFreeBytes === undefined ? {} : { minFreeBytes: options.minFreeBytes }),
  });
  const { outcome, movedTo } = inbox.restore ?? {};
  if (outcome === "finished") log.warn({ movedTo }, "finished an interrupted restore");
  if (outcome === "undone") log.warn("undid an interrupted restore; run it again");
  return inbox;
}

export function createClient({
  bot,
  config,
  options,
  clock,
}: Pick<Setup, "bot" | "config" | "options" | "clock">): Client {
  return new Client(
    {
      baseUrl: config.baseUrl,
      apiKey: config.apiKey,
      timeoutMs: options.requestTimeoutMs ?? defaults.requestTimeoutMs,
      retries: options.requestRetries,
      clock,
      random: options.random,
      fetch: options.fetch,
      maxRequestsPerMinute: config.maxRequestsPerMinute,
    },
    bot,
  );
}

interface PollerParts {
  readonly peers: SharedPeers | undefined;
  readonly restore: RestoreWindow | undefined;
}

async function createPoller(
  { bot, config, options, clock, client, log, random, inbox, laneOf }: Common,
  { peers, restore }: PollerParts,
): Promise<Poller | undefined> {
  const { delivery } = config;
  if (delivery === "webhook") return undefined;
  return new Poller({
    ...config,
    delivery,
    bot,
    inbox,
    client,
    laneOf,
    peers,
    clock,
    log,
    random,
    webhookTypes: await inbox.webhookTypes(),
    isCatchingUp: () => restore?.isReadingLog === true,
    platformClock: client,
    onSwitch: options.onSwitch ?? (() => undefined),
  });
}

function createDispatcher(
  common: Common,
  parts: Pick<DispatcherOptions, "restore" | "handler">,
): Dispatcher {
  const { config, options, routes } = common;
  return new Dispatcher({
    ...common,
    ...parts,
    types: routes,
    concurrency: config.concurrency,
    maxAttempts: config.maxAttempts,
    handlerTimeoutMs: options.handlerTimeoutMs ?? defaults.handlerTimeoutMs,
    backoff: { ...defaults.retry, ...options.retry },
    retention: { ...defaults.retention, ...options.retention },
  });
}

function createMembership(
  { clock, log, client }: Common,
  parts: Pick<MembershipOptions, "shared" | "lastDeliveryAt">,
): Membership {
  const onSize = (instances: number) => client.divideBudget(instances);
  return new Membership({ ...parts, clock, log, onSize });
}

function createReceiver(
  { bot, config, clock, wall, log, inbox, laneOf }: Common,
  poller: Poller | undefined,
): Receiver {
  return new Receiver({
    bot,
    inbox,
    laneOf,
    log,
    clock: wall,
    steady: clock,
    fallback: poller,
    secrets: config.webhookSecrets,
    path: config.webhookPath,
    maxBodyBytes: config.maxBodyBytes,
    budget: new BodyBudget(BODIES * Math.max(defaultBodyBytes(), config.maxBodyBytes)),
  });
}

function createHealth(config: Config, status: StatusSources, local: LocalChannel): HealthOptions {
  const { clock, isReady } = status;
  const isLocal = isLoopback(new URL(config.baseUrl).hostname);
  const report = new SharedCall(async () => writeStatus(await readStatus(status)), {
    keepMs: REPORT_KEPT_MS,
    now: () => clock.now(),
  });
  return {
    isReady,
    report: () => report.get(),
    apiKey: config.apiKey,
    statusToken: config.statusToken,
    webhookPath: config.delivery === "polling" ? undefined : config.webhookPath,
    ...(isLocal ? { local } : {}),
  };
}

function answers(inbox: Inbox): Promise<boolean> {
  return inbox.ping().then(
    () => true,
    () => false,
  );
}
