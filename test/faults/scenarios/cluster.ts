import type { BotSettings } from "../bot/protocol.ts";
import { whyNoBalancer } from "../driver/balancer.ts";
import type { Observed } from "../driver/checker.ts";
import {
  type Attack,
  type Fault,
  inflict,
  type Judgement,
  type NamedFault,
  type Stage,
  usualLoad,
} from "../driver/fault.ts";
import type { PostgresStore } from "../driver/postgres-store.ts";
import { ServerStore } from "../driver/server-store.ts";
import { World, type WorldOptions } from "../driver/world.ts";
import type { Scenario, Size } from "../scenario.ts";

export type ClusterFault = NamedFault<ServerStore>;

export type ClusterStage = Stage<ServerStore>;

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
  faults: readonly Fault<ServerStore>[],
  world: WorldOptions = {},
): Scenario {
  const start = () => World.startCluster(ServerStore.start, world);
  return { name, whyNot: whyNoBalancer, run: (run) => inflict(faults, run, start) };
}

interface InstanceKills extends Pick<Fault, "times" | "load"> {
  readonly answersPerLife: Readonly<Record<Size, number>>;
  /**
   * Runs checks in addition to those of every scenario.
   *
   * @param started `performance.now()` when the load started
   */
  readonly judge?: (
    stage: Stage<PostgresStore>,
    observed: Observed,
    started: number,
  ) => Promise<Judgement>;
}

export function killInstances({
  answersPerLife,
  judge,
  ...fault
}: InstanceKills): Fault<PostgresStore> {
  const begin = (stage: Stage<PostgresStore>): Attack => {
    const { world, random, size } = stage;
    const started = performance.now();
    return {
      async once(time) {
        const place = random.below(world.bots.length);
        const bot = world.bots[place];
        if (bot === undefined) return;
        const skipped = random.below(answersPerLife[size]);
        const said = () => world.waitForMore(skipped + 1, ANSWERS_TIMEOUT_MS);
        await world.killInReply(bot, `after kill ${time}`, skipped, said);
        const next = world.spawn({}, place);
        // Let some bots die before they are ready.
        if (random.chance(0.9)) await next.ready;
      },
      /** Waits for all bots to start, because a starting bot would exit when the next fault takes the database away. */
      async end() {
        await Promise.all(world.bots.map(({ ready }) => ready));
      },
      judge: (observed) => judge?.(stage, observed, started) ?? { figures: {} },
    };
  };
  return { load: usualLoad, ...fault, counted: "kills", settings: withLongLeases, begin };
}
