import type { Client } from "../client/client.ts";
import { type Config, loadConfig } from "../config.ts";
import { type Clock, sleep, steadyClock, systemClock } from "../core/clock.ts";
import { showDatabase } from "../core/database-address.ts";
import { type Listening, listen } from "../core/listen.ts";
import { processOwners, requireNode, untilEnded } from "../core/process.ts";
import { printableText } from "../core/safe-text.ts";
import { environmentSecrets } from "../core/secret-scrubber.ts";
import { uncaughtErrors } from "../core/uncaught.ts";
import { checkInitialState } from "../effects/state-value.ts";
import { ConfigError, ServiceBotError, tryRead } from "../errors.ts";
import { credentialsOf } from "../observe/credentials.ts";
import { type BotOptions, defaults, type StartOptions } from "../options.ts";
import { toNodeListener } from "../receiver/adapters.ts";
import type { Routes } from "../router/routes.ts";
import { assemble, createClient, type Parts, secretsIn } from "./assemble.ts";
import { logWarnings } from "./warnings.ts";

/** Time for recording outcomes after the handlers' grace period, in ms. Outcomes not recorded by then are lost. */
const STORE_TIMEOUT_MS = 5_000;

/** Longest time startup waits for the schedule's first check, in ms. An unresponsive store must not block startup. */
const FIRST_LOOK_TIMEOUT_MS = 5_000;

/** Starts and stops a bot's components. A bot can start only once. */
export class Lifecycle {
  readonly #bot: object;
  readonly #options: BotOptions;
  readonly #routes: Routes;
  #config: Config | undefined;
  readonly #clock: Clock;
  #client: Client | undefined;
  #parts: Parts | undefined;
  #server: Listening | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #isStarted = false;
  /** Ends the drain early. */
  readonly #noDrain = new AbortController();
  /** Aborts when the bot no longer waits for the store. */
  readonly #deadline = new AbortController();

  constructor(bot: object, options: BotOptions, routes: Routes) {
    this.#bot = bot;
    this.#options = options;
    this.#routes = routes;
    this.#clock = options.clock ?? steadyClock();
  }

  /** @throws {ConfigError} CONFIG_INVALID */
  get config(): Config {
    this.#config ??= loadConfig(this.#options.env ?? process.env, this.#options);
    return this.#config;
  }

  /** @throws {ConfigError} CONFIG_INVALID */
  get client(): Client {
    const [bot, options, clock] = [this.#bot, this.#options, this.#clock];
    this.#client ??= createClient({ bot, config: this.config, options, clock });
    return this.#client;
  }

  get name(): string | undefined {
    return this.#options.name;
  }

  get parts(): Parts | undefined {
    return this.#parts;
  }

  /** @throws {ServiceBotError} NOT_STARTED */
  get startedParts(): Parts {
    if (this.#parts !== undefined) return this.#parts;
    throw new ServiceBotError("NOT_STARTED", "The bot has not started. Await bot.start() first.");
  }

  get url(): string | undefined {
    return this.#server?.url;
  }

  /** The configuration may be invalid, so the environment's secrets count too. */
  get #secrets(): string[] {
    const configured = tryRead(() => secretsIn(this.config)) ?? [];
    return [...configured, ...environmentSecrets(this.#options.env ?? process.env)];
  }

  async start({ listen = true, standalone = listen }: StartOptions): Promise<void> {
    if (this.#starting !== undefined) {
      throw new ServiceBotError(
        "ALREADY_STARTED",
        "The bot has already been started. Create a new Bot.",
      );
    }
    this.#starting = this.#start(listen, standalone);
    if (!standalone) return await this.#starting;
    uncaughtErrors.add({
      secrets: () => this.#secrets,
      textsOf: (event) => (this.#parts === undefined ? [] : this.#parts.dispatcher.textsOf(event)),
    });
    // Register before the bot is ready, because a supervisor may send a signal as soon as "ready" is logged.
    processOwners.add(() => this.stop());
    try {
      await this.#starting;
    } catch (error) {
      if (!(error instanceof ServiceBotError)) throw error;
      await exitWith(error);
    }
  }

  stop(): Promise<void> {
    const graceMs = this.#options.shutdownGraceMs ?? defaults.shutdownGraceMs;
    const drainMs = this.#drainMs();
    this.#stopping ??= untilEnded(
      this.#withDeadline(Math.max(graceMs, drainMs) + STORE_TIMEOUT_MS, () =>
        this.#stop(graceMs, drainMs),
      ),
    );
    return this.#stopping;
  }

  async #start(listens: boolean, standalone: boolean): Promise<void> {
    requireNode();
    const { config } = this;
    // An asynchronous schema could not be checked when the bot was created.
    if (this.#options.state !== undefined) await checkInitialState(this.#options.state);
    const parts = await assemble({
      bot: this.#bot,
      config,
      options: this.#options,
      routes: this.#routes,
      clock: this.#clock,
      client: this.client,
      isStarted: () => this.#isStarted,
      deadline: this.#deadline.signal,
    });
    logWarnings({ config, options: this.#options, routes: this.#routes, ...parts });
    try {
      // Register first, because the bot must not store events in an inbox that a newer version uses.
      await parts.membership?.start((error) => this.#giveUp(error, parts, standalone));
      await parts.observers.serve();
      if (listens) this.#server = await listen(toNodeListener(parts), config.host, config.port);
    } catch (error) {
      await this.#closeUnstarted(parts);
      throw error;
    }
    this.#parts = parts;
    await this.#startHandlers(parts);
    parts.poller?.start();
    parts.lastDelivery.start();
    this.#isStarted = true;
    parts.observers.announce(this.url);
    const metrics = parts.observers.metricsUrl;
    parts.log.info({ ...readyLine(config, this.url), metrics }, "ready");
  }

  /** Starts the handlers and the schedule. If the inbox was restored, both wait until the event log has been read. */
  async #startHandlers({ dispatcher, schedule, restore, poller, log }: Parts): Promise<void> {
    const start = async () => {
      dispatcher.start();
      const timeout = sleep(systemClock, FIRST_LOOK_TIMEOUT_MS, undefined, { background: true });
      await Promise.race([schedule.start(), timeout]);
    };
    if (restore === undefined) return await start();
    restore.start(poller).then(
      async (mayBegin) => {
        if (mayBegin) await start();
      },
      (err: unknown) => log.error({ err }, "could not resume handling after the restore"),
    );
  }

  async #closeUnstarted({ membership, inbox, log, observers }: Parts): Promise<void> {
    const stages = [[() => membership?.stop(), () => observers.close()], [() => inbox.close()]];
    await this.#withDeadline(STORE_TIMEOUT_MS, () => inStages(stages)).catch((err: unknown) =>
      log.error({ err }, "could not close the bot"),
    );
    observers.end();
  }

  /** Stops the bot, because a newer version or another inbox has taken over the events. */
  #giveUp(error: ServiceBotError, parts: Parts, standalone: boolean): void {
    const { log, receiver, dispatcher, schedule } = parts;
    log.error({ err: error }, "the inbox is no longer usable; stopping the bot");
    receiver.close();
    this.#noDrain.abort();
    schedule.close();
    dispatcher.stopClaiming();
    // A newer version lets this instance finish its running events. After a copy, the events run in the other inbox
    // instead.
    if (error.code !== "INBOX_TOO_NEW") dispatcher.abandon();
    const stopped = this.stop().catch((err: unknown) =>
      log.error({ err }, "could not stop cleanly"),
    );
    if (standalone) void stopped.then(() => exitWith(error));
  }

  async #stop(graceMs: number, drainMs: number): Promise<void> {
    // Wait for startup, because a half-started bot cannot be stopped. `start()` reports any failure.
    await this.#starting?.catch(() => undefined);
    this.#isStarted = false;
    if (this.#parts === undefined) return;
    const { log, observers, poller, dispatcher, restore, membership, inbox } = this.#parts;
    const { schedule, lastDelivery } = this.#parts;
    log.info("stopping");
    await inStages([
      // Stop the poller at once, so that another instance can take over the event log while the handlers finish.
      [
        () => poller?.stop(),
        () => schedule.stop(),
        () => dispatcher.drain(graceMs),
        () => restore?.stop(),
        () => this.#drain(drainMs),
      ],
      // Serve metrics until the end, because operators monitor shutdowns too.
      [() => this.#server?.close(), () => observers.close()],
      [() => membership?.stop(), () => lastDelivery.stop()],
      [() => inbox.close()],
    ]);
    observers.end();
    log.info("stopped");
  }

  /**
   * Keeps accepting deliveries until load balancers notice that the bot is not ready. Other instances handle the
   * events.
   */
  async #drain(ms: number): Promise<void> {
    if (ms > 0) await sleep(this.#options.clock ?? systemClock, ms, this.#noDrain.signal);
  }

  /** Returns the drain time in ms, or 0 before the bot is ready, because no load balancer sends it deliveries yet. */
  #drainMs(): number {
    const takesDeliveries = this.#isStarted && this.#server !== undefined;
    return takesDeliveries && !this.#noDrain.signal.aborted ? this.config.drainMs : 0;
  }

  /** Limits the wait for an unresponsive store, which must not keep the bot from stopping. */
  async #withDeadline(ms: number, work: () => Promise<void>): Promise<void> {
    const { clock = systemClock } = this.#options;
    const cancel = clock.timer(ms, () => this.#deadline.abort(), { background: true });
    await work().finally(cancel);
  }
}

/**
 * Runs the stages one after another, and the tasks within a stage concurrently. All tasks run, even if some fail.
 *
 * @throws after all tasks have ended: the task's error, or an AggregateError if several tasks failed
 */
export async function inStages(
  stages: readonly (readonly (() => Promise<unknown> | undefined)[])[],
): Promise<void> {
  const errors: unknown[] = [];
  for (const stage of stages) {
    // The async wrapper turns a synchronous throw into a rejection.
    const results = await Promise.allSettled(stage.map(async (work) => await work()));
    for (const result of results) if (result.status === "rejected") errors.push(result.reason);
  }
  if (errors.length > 1)
    throw new AggregateError(errors, "Several components of the bot failed to stop.");
  if (errors.length > 0) throw errors[0];
}

/**
 * Prints the error and exits. The exit code is 2 for an invalid configuration and 1 for other errors. Other bots in
 * this process stop first.
 */
export function exitWith(error: ServiceBotError): Promise<void> {
  process.stderr.write(`${printableText(uncaughtErrors.redact(error.message))}\n`);
  return processOwners.end(error instanceof ConfigError || error.code === "NODE_TOO_OLD" ? 2 : 1);
}

function readyLine(config: Config, url: string | undefined): Record<string, unknown> {
  const { delivery, webhookPath, database, baseUrl } = config;
  const webhook = url === undefined || delivery === "polling" ? undefined : `${url}${webhookPath}`;
  const { apiKeyEnd, webhookSecretEnds } = credentialsOf(config);
  return {
    url,
    webhook,
    delivery,
    platform: baseUrl,
    database: showDatabase(database),
    apiKeyEnd,
    webhookSecretEnds,
  };
}
