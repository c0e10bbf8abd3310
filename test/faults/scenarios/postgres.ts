import { setTimeout as wait } from "node:timers/promises";
import type { BotUnderTest } from "../driver/bot-under-test.ts";
import { countRepeats } from "../driver/checker.ts";
import { type Attack, attemptsLost, type NamedFault, usualLoad } from "../driver/fault.ts";
import { findUnfinishedTexts } from "../driver/leases.ts";
import type { PostgresStore } from "../driver/postgres-store.ts";
import { Tally } from "../driver/timeline.ts";
import { spread, sum } from "../report.ts";
import type { Scenario } from "../scenario.ts";
import {
  ANSWERS_TIMEOUT_MS,
  type ClusterFault,
  type ClusterStage,
  DATABASE_TIMEOUT_MS,
  killInstances,
  LEASE_MS,
  onCluster,
  short,
} from "./cluster.ts";

const RECOVERY_TIMEOUT_MS = 20_000;

/** Maximum number of freezes that are undone because no reply was in flight. */
const MAX_FREEZES = 50;

const HOUR_MS = 3_600_000;

/** Moves one instance's clock forwards or back by an hour, and then corrects it. */
const clocks: ClusterFault = {
  name: "the clock of an instance jumps by ±1 h under load",
  counted: "clock jumps",
  times: { small: 2, large: 60 },
  load: usualLoad,
  begin({ world, random }): Attack {
    const refused = new Tally(world.platform, "delivery", ({ status }) => status === 400);
    const restart = async (place: number, clockOffsetMs: number) => {
      const bot = world.bots[place];
      if (bot !== undefined) await world.stop(bot);
      await world.boot({ clockOffsetMs }, place);
    };
    return {
      async once(time) {
        const place = random.below(world.bots.length);
        const clockOffsetMs = random.pick([HOUR_MS, -HOUR_MS]);
        // One instance's clock stays right, because instances with a wrong clock reject deliveries.
        if (time % 5 !== 2) {
          world.bots[place]?.order({ clockOffsetMs });
          await world.waitForMore(20 + random.below(20), ANSWERS_TIMEOUT_MS);
          world.bots[place]?.order({ clockOffsetMs: 0 });
          return;
        }
        // Restart the bot, because it reads the system clock's time on startup.
        await restart(place, clockOffsetMs);
        await world.waitForMore(20, ANSWERS_TIMEOUT_MS);
        await restart(place, 0);
      },
      /** No process was killed or frozen, so no event may run twice. */
      async end() {
        await world.settle();
        world.violations.push(...attemptsLost(await world.store.contents(), "a jump of the clock"));
        if (refused.count === 0)
          world.violations.push("no delivery was rejected, so no clock has moved");
      },
      judge: () => ({ figures: { "deliveries refused for their date": refused.count } }),
    };
  },
};

const kills: ClusterFault = {
  name: "kill -9 of instances under load",
  ...killInstances({
    times: { small: 2, large: 100 },
    answersPerLife: { small: 60, large: 60 },
  }),
};

/** Sends SIGSTOP, and SIGCONT after 1 to 3 lease durations. The process continues as if no time had passed. */
export const freezes: NamedFault<PostgresStore> = {
  name: "SIGSTOP of instances for 1 to 3 leases under load",
  counted: "times frozen",
  times: { small: 1, large: 40 },
  settings: short,
  load: usualLoad,
  begin({ world, random }): Attack {
    /** How often each text may be repeated because its process was frozen between intent and outcome. */
    const unfinished = new Map<string, number>();

    /** Freezes an instance, if possible while a reply is in flight. */
    async function freeze(bot: BotUnderTest): Promise<void> {
      for (let tries = 1; ; tries += 1) {
        await bot.freeze();
        const texts = findUnfinishedTexts(world.store.journal(), bot.journalPid);
        if (texts.length > 0 || tries === MAX_FREEZES) {
          for (const text of texts) unfinished.set(text, (unfinished.get(text) ?? 0) + 1);
          return;
        }
        bot.thaw();
        await wait(random.below(20));
      }
    }

    return {
      async once(time) {
        const { bots } = world;
        await world.waitForMore(20, ANSWERS_TIMEOUT_MS);
        await wait(random.below(100));
        const first = random.below(bots.length);
        // Sometimes freeze two instances at once.
        const places = time % 3 === 1 ? [first, (first + 1) % bots.length] : [first];
        const frozen = places.map((place) => bots[place]).filter((bot) => bot !== undefined);
        await Promise.all(frozen.map(freeze));
        await wait(LEASE_MS * (1 + 2 * random.next()));
        for (const bot of frozen) bot.thaw();
      },
      rules: () => ({ mayRepeat: unfinished }),
      judge(observed) {
        const inFlight = sum(unfinished.values());
        return {
          figures: {
            "answers under way in a freeze": inFlight,
            "of them said again": countRepeats(observed),
          },
          violations: inFlight > 0 ? [] : ["the test proves nothing: no reply was in flight"],
        };
      },
    };
  },
};

/** Every second stop is a crash. */
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

/** Freezes the connections. After a while, new connections work again. */
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

const terminations = outage({
  name: "all connections terminated under load",
  counted: "times terminated",
  times: { small: 3, large: 200 },
  strike: async ({ world }) => {
    const ended = await world.store.terminateAll();
    if (ended === 0) world.violations.push("there was no connection to terminate");
  },
});

function outage({
  strike,
  ...fault
}: Pick<ClusterFault, "name" | "counted" | "times"> & {
  readonly strike: (stage: ClusterStage, time: number) => Promise<void>;
}): ClusterFault {
  const begin = (stage: ClusterStage): Attack => {
    const { world } = stage;
    const recoveryMs: number[] = [];
    return {
      async once(time) {
        await world.waitForMore(10, RECOVERY_TIMEOUT_MS);
        await strike(stage, time);
        const moment = `after ${fault.counted}, time ${time}`;
        recoveryMs.push(await world.recover(moment, RECOVERY_TIMEOUT_MS));
      },
      judge: () => ({ figures: spread(`${fault.counted}: until the next answer`, recoveryMs) }),
    };
  };
  return { ...fault, settings: short, load: usualLoad, begin };
}

/** The clock fault comes first, because it is the only fault during which no event may run twice. */
const faults = [clocks, kills, freezes, restarts, halfOpen, terminations];

export const clusterScenarios: readonly Scenario[] = faults.map((fault) =>
  onCluster(`postgres, three instances: ${fault.name}`, [fault]),
);

export const sharedCluster: Scenario = onCluster("postgres, three instances: all faults", faults);
