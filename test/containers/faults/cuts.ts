import { setTimeout as wait } from "node:timers/promises";
import { type Attack, attemptsLost, type Stage } from "../../faults/driver/fault.ts";
import type { Store } from "../../faults/driver/store.ts";
import { Tally } from "../../faults/driver/timeline.ts";
import { spread } from "../../faults/report.ts";
import type { FaultBots } from "../support/fault-bots.ts";

const ANSWER_TIMEOUT_MS = 30_000;

const MIN_CUT_MS = 500;

export interface CutOptions {
  readonly bots: FaultBots;
  readonly network: string;
  /** A URL that a bot can reach only through this network. */
  readonly peer: URL;
  readonly maxMs: number;
  /** Returns true if all bots should lose the network this time. Default: never. */
  readonly isForAll?: (time: number) => boolean;
  /** True if an event may use up another attempt, because another bot takes it over. Default: false. */
  readonly mayCount?: boolean;
}

/** Disconnects bots under load from a network, and reconnects them later. */
export function cutOff<S extends Store>({ world, random }: Stage<S>, options: CutOptions): Attack {
  const { bots, network, peer, maxMs, isForAll = () => false, mayCount = false } = options;
  const recoveryMs: number[] = [];
  const failed = new Tally(world.platform, "delivery", ({ error }) => error !== undefined);
  return {
    async once(time) {
      await world.waitForMore(10 + random.below(10), ANSWER_TIMEOUT_MS);
      const one = random.below(world.bots.length);
      const places = isForAll(time) ? [...world.bots.keys()] : [one];
      const cut = places.map((place) => bots.at(place));
      for (const bot of cut) {
        if (!(await bots.reaches(bot, peer))) world.violations.push(`no way to cut, time ${time}`);
      }
      await Promise.all(cut.map((bot) => bots.disconnect(bot, network)));
      const until = performance.now() + MIN_CUT_MS + random.below(maxMs - MIN_CUT_MS);
      for (const bot of cut) {
        if (await bots.reaches(bot, peer)) world.violations.push(`nothing was cut, time ${time}`);
      }
      await wait(Math.max(0, until - performance.now()));
      await Promise.all(cut.map((bot) => bots.connect(bot, network)));
      const moment = `after the network was back, time ${time}`;
      recoveryMs.push(await world.recover(moment, ANSWER_TIMEOUT_MS));
    },
    judge(observed) {
      const counted = attemptsLost(observed, "an outage");
      const runs = world.runs();
      const figures = {
        "deliveries that failed": failed.count,
        "runs of an event again": runs.length - new Set(runs.map(({ id }) => id)).size,
        "events with a further attempt": counted.length,
        ...spread("until the next answer", recoveryMs),
      };
      return { figures, violations: mayCount ? [] : counted };
    },
  };
}
