import { setTimeout as wait } from "node:timers/promises";
import type { BotSettings } from "../bot/protocol.ts";
import { whyNoBalancer } from "../driver/balancer.ts";
import type { BotProcess } from "../driver/bot-process.ts";
import { countRepeats, type Observed } from "../driver/checker.ts";
import { type Attack, type Fault, inflict, type Stage } from "../driver/fault.ts";
import { findUnfinishedTexts } from "../driver/leases.ts";
import { Load } from "../driver/load.ts";
import type { PostgresStore } from "../driver/postgres-store.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import { median, sum } from "../report.ts";
import type { Scenario, ScenarioRun, Size } from "../scenario.ts";

type ClusterFault = Fault<PostgresStore> & { readonly settings?: Partial<BotSettings> };
type ClusterStage = Stage<PostgresStore>;

/** In ms, between two messages. Small runs share the machine. */
const PAUSE_MS: Readonly<Record<Size, number>> = { small: 15, large: 4 };

/** In ms. For some answers, which a fault may prevent. */
const ANSWERS_TIMEOUT_MS = 3_000;

/** In ms. After the database is back. */
const RECOVERY_TIMEOUT_MS = 20_000;

const LEASE_MS = 1_500;
const DATABASE_TIMEOUT_MS = 1_000;
const short = { leaseMs: LEASE_MS, databaseTimeoutMs: DATABASE_TIMEOUT_MS };

const HOUR_MS = 3_600_000;

/** The clock of one instance is set by an hour, forwards or back, and right again. */
const clocks: ClusterFault = {
  name: "the clock of an instance jumps by ±1 h under load",
  counted: "clock jumps",
  times: { small: 2, large: 60 },
  begin: (stage) => new Jumps(stage),
};

class Jumps implements Attack {
  readonly #stage: ClusterStage;
  /** Deliveries that seemed too old or too new to a bot. */
  #refused = 0;

  constructor(stage: ClusterStage) {
    this.#stage = stage;
    stage.world.platform.onTimeline((entry) => {
      if (entry.kind === "delivery" && entry.status === 400) this.#refused += 1;
    });
  }

  async once(time: number): Promise<void> {
    const { world, random } = this.#stage;
    const place = random.below(world.bots.length);
    const clockOffsetMs = random.pick([HOUR_MS, -HOUR_MS]);
    // One clock is right at any time, because deliveries carry the time of day.
    if (time % 5 !== 2) {
      world.bots[place]?.order({ clockOffsetMs });
      await world.waitForMore(20 + random.below(20), ANSWERS_TIMEOUT_MS);
      world.bots[place]?.order({ clockOffsetMs: 0 });
    } else {
      // A bot takes its first time from the system.
      await this.#restart(place, clockOffsetMs);
      await world.waitForMore(20, ANSWERS_TIMEOUT_MS);
      await this.#restart(place, 0);
    }
  }

  /** No process was killed or frozen, so nothing may run twice. */
  async end(): Promise<void> {
    const { world } = this.#stage;
    await world.settle();
    const { stored } = await world.store.contents();
    for (const { id, attempts } of stored) {
      if (attempts !== 1) world.violations.push(`${id} had ${attempts} runs while clocks jumped`);
    }
    if (this.#refused === 0) world.violations.push("no delivery was refused: no clock has moved");
  }

  judge() {
    return { figures: { "deliveries refused for their date": this.#refused } };
  }

  async #restart(place: number, clockOffsetMs: number): Promise<void> {
    const { world } = this.#stage;
    const bot = world.bots[place];
    if (bot !== undefined) await world.stop(bot);
    await world.boot({ clockOffsetMs }, place);
  }
}

/** Kill -9 of one after the other while messages come and are answered. */
const kills: ClusterFault = {
  name: "kill -9 of instances under load",
  counted: "kills",
  times: { small: 2, large: 100 },
  settings: short,
  begin: ({ world, random }) => {
    let midAnswer = 0;
    return {
      async once(time) {
        const place = random.below(world.bots.length);
        const bot = world.bots[place];
        if (bot === undefined) return;
        // In the middle of an answer: the platform has it and has not replied yet.
        const after = random.below(60);
        const ignore = world.ledger.onSaid(after, () => bot.signal("SIGKILL"));
        await world.waitForMore(after + 1, ANSWERS_TIMEOUT_MS);
        ignore();
        if (bot.killed) midAnswer += 1;
        await world.kill(bot, `after kill ${time}`);
        const next = world.spawn({}, place);
        // Some are killed before they are ready.
        if (random.chance(0.9)) await next.ready;
      },
      /** A bot that starts ends by itself when the next fault takes the database away. */
      async end() {
        await Promise.all(world.bots.map(({ ready }) => ready));
      },
      judge: () => ({ figures: { "of them in the middle of an answer": midAnswer } }),
    };
  },
};

/** SIGSTOP for 1 to 3 leases, then SIGCONT: the process continues as if no time had passed. */
const freezes: ClusterFault = {
  name: "SIGSTOP of instances for 1 to 3 leases under load",
  counted: "times frozen",
  times: { small: 1, large: 40 },
  settings: short,
  begin: (stage) => new Freezes(stage),
};

class Freezes implements Attack {
  readonly #stage: ClusterStage;
  /** How often each text may be repeated: its process was frozen between intent and outcome. */
  readonly #unfinished = new Map<string, number>();

  constructor(stage: ClusterStage) {
    this.#stage = stage;
  }

  async once(time: number): Promise<void> {
    const { world, random } = this.#stage;
    const { bots } = world;
    await world.waitForMore(20, ANSWERS_TIMEOUT_MS);
    await wait(random.below(100));
    const first = random.below(bots.length);
    // Sometimes two at once.
    const places = time % 3 === 1 ? [first, (first + 1) % bots.length] : [first];
    const frozen = places.map((place) => bots[place]).filter((bot) => bot !== undefined);
    await Promise.all(frozen.map((bot) => this.#freeze(bot)));
    await wait(LEASE_MS * (1 + 2 * random.next()));
    for (const bot of frozen) bot.thaw();
  }

  rules() {
    return { mayRepeat: this.#unfinished };
  }

  judge(observed: Observed) {
    const unfinished = sum(this.#unfinished.values());
    const figures = {
      "answers under way in a freeze": unfinished,
      "of them said again": countRepeats(observed),
    };
    const violations = unfinished > 0 ? [] : ["nothing was tried: no answer was under way"];
    return { figures, violations };
  }

  async #freeze(bot: BotProcess): Promise<void> {
    await bot.freeze();
    for (const text of findUnfinishedTexts(this.#stage.world.store.journal(), bot.pid)) {
      this.#unfinished.set(text, (this.#unfinished.get(text) ?? 0) + 1);
    }
  }
}

/** The server stops, every second time as if it had crashed, and comes back. */
const restarts = outage({
  name: "restart of the database, fast and immediate, under load",
  counted: "restarts of the database",
  times: { small: 2, large: 50 },
  strike: async ({ world: { store }, random }, time) => {
    await store.server.end(time % 2 === 0 ? "immediate" : "fast");
    await wait(random.below(1_000));
    await store.server.begin();
  },
});

/** Connections stay, and nothing passes them. New ones work after a while. */
const halfOpen = outage({
  name: "connections to the database go half-open under load",
  counted: "times half-open",
  times: { small: 1, large: 30 },
  strike: async ({ world: { store }, random }) => {
    store.proxy.dropFrozen();
    store.proxy.freeze();
    await wait(random.below(2 * DATABASE_TIMEOUT_MS));
    store.proxy.mend();
  },
});

/** The server ends every connection of the bots at once. */
const terminations = outage({
  name: "all connections terminated under load",
  counted: "times terminated",
  times: { small: 3, large: 200 },
  strike: async ({ world }) => {
    const ended = await world.store.terminateAll();
    if (ended === 0) world.violations.push("there was no connection to be ended");
  },
});

/** The database is away for a while, again and again. */
function outage({
  strike,
  ...fault
}: Pick<ClusterFault, "name" | "counted" | "times"> & {
  readonly strike: (stage: ClusterStage, time: number) => Promise<void>;
}): ClusterFault {
  const begin = (stage: ClusterStage): Attack => {
    const { world } = stage;
    /** In ms. From the end of each outage until an answer was said. */
    const recoveryMs: number[] = [];
    return {
      async once(time) {
        await world.waitForMore(10, RECOVERY_TIMEOUT_MS);
        await strike(stage, time);
        const back = performance.now();
        if (!(await world.waitForMore(1, RECOVERY_TIMEOUT_MS))) {
          world.violations.push(`nothing was said after ${fault.counted}, time ${time}`);
        }
        recoveryMs.push(performance.now() - back);
      },
      judge: () => ({
        figures: {
          [`${fault.counted}: until the next answer, median (ms)`]: Math.round(median(recoveryMs)),
          [`${fault.counted}: worst (ms)`]: Math.round(Math.max(...recoveryMs)),
        },
      }),
    };
  };
  return { ...fault, settings: short, begin };
}

/** The clocks come first, because only they forbid a second run. */
const faults = [clocks, kills, freezes, restarts, halfOpen, terminations];

/** Each fault on a cluster of its own. */
export const clusterScenarios: readonly Scenario[] = faults.map((fault) =>
  scenario(`postgres, three instances: ${fault.name}`, [fault]),
);

/** All faults in turn on one cluster. */
export const sharedCluster: Scenario = scenario("postgres, three instances: all faults", faults);

function scenario(name: string, all: readonly ClusterFault[]): Scenario {
  const run = (options: ScenarioRun) =>
    inflict(
      all.map((fault, n) => underLoad(fault, all[n - 1]?.settings)),
      options,
      () => World.startCluster(),
    );
  return { name, whyNot: whyNoBalancer, run };
}

/**
 * People write while the fault is inflicted.
 *
 * @param current settings of the bots from the fault before
 */
function underLoad(
  { settings, ...fault }: ClusterFault,
  current: ClusterFault["settings"],
): Fault<PostgresStore> {
  const begin = async (stage: ClusterStage): Promise<Attack> => {
    const { world, random, size } = stage;
    if (settings !== undefined && settings !== current) await world.restart(settings);
    const attack = await fault.begin(stage);
    // Its choices are its own, because it writes as fast as the bots answer.
    const own = new Random(random.below(2 ** 31));
    const pauseMs = () => PAUSE_MS[size];
    const load = new Load({ ledger: world.ledger, random: own, pauseMs });
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
