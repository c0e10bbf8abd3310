import { setTimeout as wait } from "node:timers/promises";
import type { Observed } from "../driver/checker.ts";
import { scaled } from "../driver/numbers.ts";
import type { Run } from "../driver/runs.ts";
import { Supervisor } from "../driver/supervisor.ts";
import type { Behaviour } from "../driver/texts.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { events: number; blocking: number }>> = {
  small: { events: 2_000, blocking: 1 },
  large: { events: 50_000, blocking: 30 },
};

/** One event in so many is poison. */
const ONE_IN = 100;

const MAX_ATTEMPTS = 5;

const PEOPLE = 300;

/** Handlers that throw, never settle, or block the event loop, among many that do neither. */
export const poison: Scenario = {
  name: "poison: throws, never settles, blocks the loop, 1 % of the events",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const { events, blocking } = scaled(sizes[size], scale);
    const random = new Random(seed);
    const world = await World.start({
      env: { MAX_ATTEMPTS: String(MAX_ATTEMPTS), LOG_LEVEL: "fatal", CONCURRENCY: "32" },
      settings: { handlerTimeoutMs: 500, answers: 1 },
      recordRuns: true,
    });
    const supervisor = new Supervisor(world, await world.boot());
    try {
      supervisor.start();
      const plan = behaviours(random, events, blocking);
      for (const [i, behaviour] of plan.entries()) {
        world.ledger.write({ from: `person${random.below(PEOPLE)}`, behaviour });
        // Not all at once: what comes behind the poison must get through, too.
        if (i % 10 === 9) await wait(25);
        if (i % 5_000 === 4_999) progress(`${i + 1} of ${events}, ${supervisor.kills} restarts`);
      }
      // Poison that blocks takes the process with it once per attempt; a slow machine looks alike.
      const most = 2 * blocking * (MAX_ATTEMPTS + 1) + 20;
      await world.settledAcrossRestarts(() => supervisor.kills <= most);
      await supervisor.stop();
      if (supervisor.kills > most) {
        world.violations.push(`${supervisor.kills} restarts, and no end of the poison`);
      }
      const observed = await world.finish(supervisor.bot);
      world.violations.push(...checkRunCounts(observed, world.runs()));
      return {
        figures: {
          ...count(plan),
          restarts: supervisor.kills,
          "dead letters": observed.stored.filter(({ state }) => state === "dead").length,
        },
        violations: world.violations,
      };
    } finally {
      await supervisor.stop();
      await world.close();
    }
  },
};

/** What each event's handler does: most answer, some of the rest block, the others throw or hang. */
function behaviours(random: Random, events: number, blocking: number): Behaviour[] {
  const all: Behaviour[] = Array.from({ length: events }, () => "answer");
  let blocks = blocking;
  for (let poisoned = 0; poisoned < Math.round(events / ONE_IN); ) {
    const at = random.below(events);
    if (all[at] !== "answer") continue;
    all[at] = blocks > 0 ? "block" : random.chance(0.7) ? "throw" : "hang";
    blocks -= 1;
    poisoned += 1;
  }
  return all;
}

function count(plan: readonly Behaviour[]): Record<string, number> {
  const of = (behaviour: Behaviour) => plan.filter((each) => each === behaviour).length;
  return { events: plan.length, throw: of("throw"), hang: of("hang"), block: of("block") };
}

/** Poison ends within its attempts. Claims may be more: one that is over the limit is claimed to be buried. */
function checkRunCounts({ written }: Observed, runs: readonly Run[]): string[] {
  const counts = new Map<string, number>();
  for (const { id } of runs) counts.set(id, (counts.get(id) ?? 0) + 1);
  return written.flatMap(({ id, text, ends }) => {
    const count = counts.get(id) ?? 0;
    if (ends !== "dead" || count <= MAX_ATTEMPTS) return [];
    return [`"${text}" was run ${count} times, and ${MAX_ATTEMPTS} are permitted`];
  });
}
