import type { BotSettings } from "../bot/protocol.ts";
import { whyNoBalancer } from "../driver/balancer.ts";
import type { Observed } from "../driver/checker.ts";
import { type Attack, type Fault, inflict, type Judgement, type Stage } from "../driver/fault.ts";
import { Load, type LoadOptions } from "../driver/load.ts";
import type { PostgresStore } from "../driver/postgres-store.ts";
import type { ServerStore } from "../driver/server-store.ts";
import type { Store } from "../driver/store.ts";
import { World, type WorldOptions } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Scenario, ScenarioRun, Size } from "../scenario.ts";

export type LoadedFault<S extends Store> = Fault<S> & {
  readonly settings?: Partial<BotSettings>;
  /** Load during the fault. Default: the usual load. `none` if the fault writes messages itself. */
  readonly load?: ((size: Size) => Pick<LoadOptions, "people" | "behaviours">) | "none";
};

export type ClusterFault<S extends PostgresStore = ServerStore> = LoadedFault<S>;

export type ClusterStage<S extends PostgresStore = ServerStore> = Stage<S>;

/** Pause between two messages, in ms. A small run shares the machine with other tests. */
const PAUSE_MS: Readonly<Record<Size, number>> = { small: 15, large: 4 };

/** Time to wait for replies, in ms. A fault may prevent them. */
export const ANSWERS_TIMEOUT_MS = 3_000;

export const LEASE_MS = 1_500;
export const DATABASE_TIMEOUT_MS = 1_000;

/** Short timeouts, so that bots soon notice that an instance or the database is gone. */
export const short: Partial<BotSettings> = {
  leaseMs: LEASE_MS,
  databaseTimeoutMs: DATABASE_TIMEOUT_MS,
};

/** Leases last longer than the scenario, which ends only if the leases of killed instances are freed. */
const withLongLeases: Partial<BotSettings> = { ...short, leaseMs: 120_000 };

export function onCluster(
  name: string,
  faults: readonly ClusterFault[],
  world: WorldOptions = {},
): Scenario {
  const run = (options: ScenarioRun) =>
    inflict(
      faults.map((fault, n) => underLoad(fault, faults[n - 1]?.settings)),
      options,
      () => World.startCluster(world),
    );
  return { name, whyNot: whyNoBalancer, run };
}

/**
 * Sends messages to the bots during the fault.
 *
 * @param current the bots' settings after the previous fault
 */
export function underLoad<S extends Store>(
  { settings, load: writers = () => ({}), ...fault }: LoadedFault<S>,
  current: Partial<BotSettings> | undefined,
): Fault<S> {
  const begin = async (stage: Stage<S>): Promise<Attack> => {
    const { world, random, size } = stage;
    if (settings !== undefined && settings !== current) await world.restart(settings);
    const attack = await fault.begin(stage);
    if (writers === "none") return attack;
    // Use a separate random source, because the number of its calls depends on how fast the bots reply.
    const own = new Random(random.below(2 ** 31));
    const pauseMs = () => PAUSE_MS[size];
    const load = new Load({ ledger: world.ledger, random: own, pauseMs, ...writers(size) });
    return {
      once: (time) => attack.once(time),
      async end() {
        await load.stop();
        await attack.end?.();
      },
      rules: () => attack.rules?.() ?? {},
      judge: (observed) => attack.judge?.(observed) ?? { figures: {} },
      close: () => load.stop(),
    };
  };
  return { ...fault, begin };
}

interface InstanceKills extends Pick<ClusterFault<PostgresStore>, "name" | "times" | "load"> {
  readonly answersPerLife: Readonly<Record<Size, number>>;
  /**
   * Runs checks in addition to those of every scenario.
   *
   * @param started `performance.now()` when the load started
   */
  readonly judge?: (
    stage: ClusterStage<PostgresStore>,
    observed: Observed,
    started: number,
  ) => Promise<Judgement>;
}

export function killInstances({
  answersPerLife,
  judge,
  ...fault
}: InstanceKills): ClusterFault<PostgresStore> {
  const begin = (stage: ClusterStage<PostgresStore>): Attack => {
    const { world, random, size } = stage;
    const started = performance.now();
    let midAnswer = 0;
    return {
      async once(time) {
        const place = random.below(world.bots.length);
        const bot = world.bots[place];
        if (bot === undefined) return;
        // Kill in the middle of a reply, when the platform has accepted the message but has not responded yet.
        const after = random.below(answersPerLife[size]);
        const ignore = world.ledger.onSaid(after, () => bot.kill("SIGKILL"));
        await world.waitForMore(after + 1, ANSWERS_TIMEOUT_MS);
        ignore();
        if (bot.killed) midAnswer += 1;
        await world.kill(bot, `after kill ${time}`);
        const next = world.spawn({}, place);
        // Let some bots die before they are ready.
        if (random.chance(0.9)) await next.ready;
      },
      /** Waits for all bots to start, because a starting bot would exit when the next fault takes the database away. */
      async end() {
        await Promise.all(world.bots.map(({ ready }) => ready));
      },
      async judge(observed) {
        const more = await judge?.(stage, observed, started);
        const figures = { "of them in the middle of an answer": midAnswer, ...more?.figures };
        return { ...more, figures };
      },
    };
  };
  return { ...fault, counted: "kills", settings: withLongLeases, begin };
}
