import { setTimeout as wait } from "node:timers/promises";
import type { Behaviour } from "../bot/behaviours.ts";
import { countRuns, type Observed } from "../driver/checker.ts";
import { type Attack, onOneBot, type Stage } from "../driver/fault.ts";
import { Supervisor } from "../driver/supervisor.ts";
import type { Scenario } from "../scenario.ts";

/** Number of events per poisoned event. */
const SLICE = 100;

/**
 * Each attempt at a blocking event costs a restart. An event that runs at the same time may lose two runs, and one more
 * if the machine is slow.
 */
const MAX_ATTEMPTS = 5;

/** Enough of each kind for the small size. `block` is rare because each attempt costs a restart. */
const kinds: readonly Behaviour[] = ["block", "throw", "hang", "throw"];

const PEOPLE = 300;

/** Mixes handlers that throw, never settle, or block the event loop among many good ones. */
export const poison: Scenario = onOneBot({
  name: "poison: throws, never settles, blocks the loop, 1 % of the events",
  counted: "poisoned events",
  times: { small: 4, large: 500 },
  world: {
    env: { MAX_ATTEMPTS: String(MAX_ATTEMPTS), LOG_LEVEL: "fatal", CONCURRENCY: "32" },
    settings: { handlerTimeoutMs: 500, answers: 1 },
  },
  begin: async (stage) => {
    const { world } = stage;
    await world.boot();
    return new Poison(stage);
  },
});

class Poison implements Attack {
  readonly #stage: Stage;
  readonly #supervisor: Supervisor;
  readonly #counts: Record<string, number> = {};

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#supervisor = new Supervisor(stage.world);
  }

  /** Mixes poison events into good ones. The bot must also handle the events queued behind them. */
  async once(time: number): Promise<void> {
    const { world, random } = this.#stage;
    const at = random.below(SLICE);
    const later = random.chance(0.06) ? "block" : random.pick(kinds.slice(1));
    const kind = kinds[time - 1] ?? later;
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    for (let i = 0; i < SLICE; i++) {
      const behaviour = i === at ? kind : "answer";
      world.ledger.write({ from: `person${random.below(PEOPLE)}`, behaviour });
      if (i % 10 === 9) await wait(20);
    }
  }

  async end(): Promise<void> {
    const { world } = this.#stage;
    const { block = 0 } = this.#counts;
    // A blocked process dies once per attempt. A slow machine has the same effect.
    const most = 2 * block * (MAX_ATTEMPTS + 1) + 20;
    await world.settle(() => this.#supervisor.kills <= most);
    await this.close();
    if (this.#supervisor.kills > most) world.violations.push("restarts do not end the poison");
  }

  /** A poison event ends within its attempts. Marking it as dead may take one more claim. */
  judge({ written, stored }: Observed) {
    const counts = countRuns(this.#stage.world.runs());
    const violations = written.flatMap(({ id, text, ends }) => {
      const count = counts.get(id) ?? 0;
      if (ends !== "dead" || count <= MAX_ATTEMPTS) return [];
      return [`"${text}" was run ${count} times, and ${MAX_ATTEMPTS} are permitted`];
    });
    const dead = stored.filter(({ state }) => state === "dead").length;
    const figures = { ...this.#counts, restarts: this.#supervisor.kills, "dead letters": dead };
    return { figures, violations };
  }

  async close(): Promise<void> {
    await this.#supervisor.stop();
  }
}
