import type { Behaviour } from "../bot/behaviours.ts";
import type { Observed } from "../driver/checker.ts";
import { checkCounters } from "../driver/counters.ts";
import { type Attack, type Judgement, onOneBot, type Stage } from "../driver/fault.ts";
import type { Store } from "../driver/store.ts";
import type { Scenario, Size } from "../scenario.ts";
import { killInstances, onCluster } from "./cluster.ts";
import { killUnderLoad } from "./kills.ts";

const NAME = "kill -9 under load of a bot that counts in its state";

/** Few in a small run, so that each user gets several replies. */
const PEOPLE: Readonly<Record<Size, number>> = { small: 20, large: 200 };

/** One message in ten also counts in a group's state, which other conversations update concurrently. */
const behaviours: readonly Behaviour[] = [...Array<Behaviour>(9).fill("count"), "tally"];

const world = { settings: { answers: 1 } } as const;

/** Checks that each conversation's replies are 1, 2, 3 and so on, no matter how often the bot dies. */
export const counting: Scenario = onOneBot({
  ...{ name: NAME, counted: "kills", times: { small: 5, large: 100 }, world },
  begin: (stage): Attack => {
    const choose = () => stage.random.pick(behaviours);
    const kills = killUnderLoad(stage, PEOPLE[stage.size], choose);
    const started = performance.now();
    return { ...kills, judge: (observed) => judgeCounters(stage, observed, started) };
  },
});

export const clusterCounting: Scenario = onCluster(
  `postgres, three instances: ${NAME}`,
  [
    killInstances({
      times: { small: 2, large: 100 },
      answersPerLife: { small: 60, large: 200 },
      load: (size) => ({ people: PEOPLE[size], behaviours }),
      judge: judgeCounters,
    }),
  ],
  world,
);

async function judgeCounters(
  { world }: Stage<Store>,
  { written }: Observed,
  started: number,
): Promise<Judgement> {
  const seconds = (performance.now() - started) / 1000;
  const { states } = await world.store.layer();
  const figures = {
    conversations: new Set(written.map(({ lane }) => lane)).size,
    "events per second": Math.round(written.length / seconds),
    "runs of an event again": world.runs().length - written.length,
  };
  return { figures, violations: checkCounters(written, states) };
}
