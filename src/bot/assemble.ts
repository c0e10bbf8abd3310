import { Client } from "../client/client.ts";
import type { Config } from "../config.ts";
import { BodyBudget } from "../core/body.ts";
import { type Clock, steadyClock, systemClock } from "../core/clock.ts";
import { secretsOf } from "../core/database-address.ts";
import { createLogger, type Logger } from "../core/logger.ts";
import { scrubber } from "../core/redact.ts";
import { SharedCall } from "../core/shared-call.ts";
import { Dispatcher } from "../dispatcher/loop.ts";
import { defaultLane, type LaneOf, safeLane } from "../events/lane.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { Observers } from "../observe/observers.ts";
import { readStatus, type StatusSources, writeStatus } from "../observe/status.ts";
import type { BotOptions } from "../options.ts";
import type { Peers } from "../poller/leader.ts";
import { Poller } from "../poller/poller.ts";
import type { Endpoints } from "../receiver/adapters.ts";
import type { HealthOptions } from "../receiver/health.ts";
import { Receiver } from "../receiver/receive.ts";
import { Handling } from "../router/handling.ts";
import type { Router } from "../router/router.ts";
import { RestoreWindow } from "../steps/restore.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import {
  HANDLER_TIMEOUT_MS,
  MIN_BODIES_BYTES,
  REPORT_KEPT_MS,
  REQUEST_TIMEOUT_MS,
  RETENTION,
  RETRY,
} from "./defaults.ts";

/** The parts of a bot that runs. */
export interface Parts extends Endpoints {
  readonly log: Logger;
  /** Log, spans, metrics and the report to a local platform. */
  readonly observers: Observers;
  readonly inbox: Inbox;
  readonly dispatcher: Dispatcher;
  readonly receiver: Receiver;
  /** Absent with DELIVERY=webhook. */
  readonly poller: Poller | undefined;
  /** The restore of the inbox. `undefined` if never restored. */
  readonly restore: RestoreWindow | undefined;
  /** The other instances. */
  readonly cluster: Cluster;
  readonly status: StatusSources;
}

/** Dependencies of every part. */
interface Dependencies {
  /** Sender of what is published on channels. */
  readonly bot: object;
  readonly config: Config;
  readonly options: BotOptions;
  readonly router: Router;
  readonly isReady: () => boolean;
  /** Aborts when a bot that stops waits for the store no more. */
  readonly deadline: AbortSignal;
  /** Hides these wherever something is told. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly observers: Observers;
}

/** Wires the parts together. Nothing runs yet. */
export async function assemble(
  given: Pick<Dependencies, "bot" | "config" | "options" | "router" | "isReady" | "deadline">,
): Promise<Parts> {
  const { bot, config, options } = given;
  const clock = options.clock ?? steadyClock();
  // The driver looks for its password there, whatever `env` the bot was given.
  const ofDatabase = secretsOf(config.database, process.env);
  const secrets = [config.apiKey, ...config.webhookSecrets, ...ofDatabase];
  const log = options.logger ?? createLogger({ level: config.logLevel, secrets });
  const { fetch = globalThis.fetch } = options;
  const observers = await Observers.create(bot, { config, fetch, log });
  try {
    const inbox = await openInbox(given, clock);
    try {
      return await wire({ ...given, secrets, clock, log, observers }, inbox);
    } catch (error) {
      await inbox.close().catch((err: unknown) => log.error({ err }, "the inbox cannot be closed"));
      throw error;
    }
  } catch (error) {
    observers.end();
    throw error;
  }
}

async function wire(dependencies: Dependencies, inbox: Inbox): Promise<Parts> {
  const { bot, config, options, clock, log, observers } = dependencies;
  const laneOf = options.lane === undefined ? defaultLane : safeLane(options.lane, log);
  const client = createClient(dependencies);
  const cluster = createCluster({
    shared: inbox.shared,
    clock,
    log,
    lastDeliveryAt: () => receiver.lastDeliveryAt,
    onSize: (instances) => client.divideBudget(instances),
    // The others should read the log before they have what its last reader left.
    pollerLeaseMs: options.leaseMs && options.leaseMs / 2,
    bot,
  });
  const { peers } = cluster;
  const restore = await RestoreWindow.open({ inbox, client, clock, log });
  const isCatchingUp = () => restore?.isReadingLog === true;
  const reading = { inbox, client, laneOf, clock, log, peers, bot, isCatchingUp };
  const poller = await makePoller(config, options, reading);
  const dispatcher = makeDispatcher(dependencies, { inbox, client, laneOf, restore });
  // Signatures are dated by the time of day.
  const wall = options.clock ?? systemClock;
  const receiver: Receiver = new Receiver({
    inbox,
    secrets: config.webhookSecrets,
    laneOf,
    clock: wall,
    steady: clock,
    log,
    fallback: poller,
    path: config.webhookPath,
    maxBodyBytes: config.maxBodyBytes,
    budget: new BodyBudget(Math.max(MIN_BODIES_BYTES, 2 * config.maxBodyBytes)),
    bot,
  });
  const ping = new SharedCall(() => answers(inbox));
  const status: StatusSources = {
    clock,
    startedAt: clock.now(),
    isReady: async () => dependencies.isReady() && (await ping.get()),
    receiver,
    poller,
    inbox,
    client,
    restored: restore,
  };
  const health = makeHealth(config, status);
  const webhook = config.delivery === "polling" ? undefined : receiver;
  const { isReady: isStarted } = dependencies;
  const settings = { ...config, store: config.database.kind };
  observers.watch({ ...status, wall, isStarted, inbox, client, dispatcher, poller, settings });
  const parts = { inbox, dispatcher, receiver, poller, restore, cluster, status };
  return { log, observers, webhook, health, ...parts };
}

/** Opens the inbox that the configuration names. */
async function openInbox(
  { bot, config, options, deadline }: Pick<Dependencies, "bot" | "config" | "options" | "deadline">,
  clock: Clock,
): Promise<Inbox> {
  const { database, databaseSchema: schema } = config;
  if (database.kind === "postgres") {
    const { PostgresInbox } = await import("../inbox/postgres/postgres-inbox.ts");
    const { random, maxBacklog } = options;
    // A test that stops the clock stops the leases with it; else they are on the database's.
    const now = options.clock && (() => clock.now());
    const { url } = database;
    const shared = { clock, now, random, maxBacklog, deadline, bot };
    return await PostgresInbox.open({ url, schema, ...shared });
  }
  // Loaded late: the native binding must not be touched before the version of Node was checked.
  const { SqliteInbox } = await import("../inbox/sqlite/sqlite-inbox.ts");
  return new SqliteInbox({
    file: database.file,
    clock,
    bot,
    ...(options.maxBacklog === undefined ? {} : { maxBacklog: options.maxBacklog }),
    ...(options.minFreeBytes === undefined ? {} : { minFreeBytes: options.minFreeBytes }),
  });
}

function createClient({ bot, config, options, clock }: Dependencies): Client {
  return new Client(
    {
      baseUrl: config.baseUrl,
      apiKey: config.apiKey,
      timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      retries: options.requestRetries,
      clock,
      fetch: options.fetch,
      random: options.random,
      maxRequestsPerMinute: config.maxRequestsPerMinute,
    },
    bot,
  );
}

function makeHealth(config: Config, status: StatusSources): HealthOptions {
  const { clock, isReady } = status;
  const report = new SharedCall(async () => writeStatus(await readStatus(status)), {
    keepMs: REPORT_KEPT_MS,
    now: () => clock.now(),
  });
  return {
    isReady,
    report: () => report.get(),
    apiKey: config.apiKey,
    webhookPath: config.delivery === "polling" ? undefined : config.webhookPath,
  };
}

interface DispatcherParts {
  readonly inbox: Inbox;
  readonly client: Client;
  readonly laneOf: LaneOf;
  readonly restore: RestoreWindow | undefined;
}

function makeDispatcher(
  dependencies: Dependencies,
  { inbox, client, laneOf, restore }: DispatcherParts,
): Dispatcher {
  const { config, options, router, deadline, secrets, clock, log, bot } = dependencies;
  return new Dispatcher({
    inbox,
    clock,
    log,
    deadline,
    bot,
    handler: new Handling({ router, client, clock, laneOf, loopGuard: options.loopGuard }),
    types: router,
    concurrency: config.concurrency,
    maxAttempts: config.maxAttempts,
    handlerTimeoutMs: options.handlerTimeoutMs ?? HANDLER_TIMEOUT_MS,
    leaseMs: options.leaseMs,
    backoff: { ...RETRY, ...options.retry },
    random: options.random ?? Math.random,
    retention: { ...RETENTION, ...options.retention },
    restore,
    scrub: scrubber(secrets),
  });
}

interface PollerParts {
  readonly inbox: Inbox;
  readonly client: Client;
  readonly laneOf: LaneOf;
  readonly clock: Clock;
  readonly log: Logger;
  readonly peers: Peers | undefined;
  readonly bot: object;
  readonly isCatchingUp: () => boolean;
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

async function answers(inbox: Inbox): Promise<boolean> {
  return await inbox.ping().then(
    () => true,
    () => false,
  );
}
