import { setTimeout as wait } from "node:timers/promises";
import type { Behaviour } from "../bot/behaviours.ts";
import { countRuns } from "../driver/checker.ts";
import { type Attack, onOneBot, type Stage } from "../driver/fault.ts";
import { Supervisor } from "../driver/supervisor.ts";
import type { Scenario } from "../scenario.ts";

/** One event in this many is poison. */
const SLICE = 100;

/**
 * Each attempt at a blocking event costs a restart. Another event running at the same time may lose two runs, and a
 * third if the machine is slow.
 */
const MAX_ATTEMPTS = 5;

/** Gives the small size enough of each kind. `block` is rare because each attempt costs a restart. */
const kinds: readonly Behaviour[] = ["block", "throw", "hang", "throw"];

const PEOPLE = 300;

export const poison: Scenario = onOneBot({
  name: "poison: throws, never settles, blocks the loop, 1 % of the events",
  counted: "poisoned events",
  times: { small: 4, large: 500 },
  world: {
    env: { MAX_ATTEMPTS: String(MAX_ATTEMPTS), LOG_LEVEL: "fatal", CONCURRENCY: "32" },
    settings: { handlerTimeoutMs: 500, answers: 1 },
  },
  isBooted: true,
  begin: poisonEvents,
});

function poisonEvents({ world, random }: Stage): Attack {
  const supervisor = new Supervisor(world);
  const counts: Record<string, number> = {};
  return {
    /** The bot must also handle the events queued behind a poison event. */
    async once(time) {
      const at = random.below(SLICE);
      const later = random.chance(0.06) ? "block" : random.pick(kinds.slice(1));
      const kind = kinds[time - 1] ?? later;
      counts[kind] = (counts[kind] ?? 0) + 1;
      for (let i = 0; i < SLICE; i++) {
        const behaviour = i === at ? kind : "answer";
        world.ledger.write({ from: `person${random.below(PEOPLE)}`, behaviour });
        if (i % 10 === 9) await wait(20);
      }
    },
    async end() {
      const { block = 0 } = counts;
      // A blocked process is killed once per attempt. The supervisor may also kill a process that is only slow.
      const most = 2 * block * (MAX_ATTEMPTS + 1) + 20;
      await world.settle(() => supervisor.kills <= most);
      await supervisor.stop();
      if (supervisor.kills > most) world.violations.push("the poison survives every restart");
    },
    /** A poison event runs no more often than it has attempts. Marking it as dead may take one more claim. */
    judge({ written, stored }) {
      const runs = countRuns(world.runs());
      const violations = written.flatMap(({ id, text, ends }) => {
        const count = runs.get(id) ?? 0;
        if (ends !== "dead" || count <= MAX_ATTEMPTS) return [];
        return [`"${text}" was run ${count} times, and ${MAX_ATTEMPTS} are permitted`];
      });
      const dead = stored.filter(({ state }) => state === "dead").length;
      return {
        figures: { ...counts, restarts: supervisor.kills, "dead letters": dead },
        violations,
      };
    },
    close: () => supervisor.stop(),
  };
}
