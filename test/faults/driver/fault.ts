import type { Behaviour } from "../bot/behaviours.ts";
import { Random } from "../random.ts";
import { spread } from "../report.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";
import type { Observed, Rules } from "./checker.ts";
import type { SqliteStore, Store } from "./store.ts";
import { World, type WorldOptions } from "./world.ts";

export interface Fault<S extends Store = SqliteStore> {
  readonly name: string;
  /** Unit of `times`, for example `kills`. */
  readonly counted: string;
  readonly times: Readonly<Record<Size, number>>;
  readonly world?: WorldOptions | ((random: Random) => WorldOptions);
  begin(stage: Stage<S>): Attack | Promise<Attack>;
}

export interface Stage<S extends Store = SqliteStore> {
  readonly world: World<S>;
  readonly random: Random;
  readonly size: Size;
  readonly times: number;
}

export type Judgement = Pick<Outcome, "figures"> & Partial<Outcome>;

export interface Attack {
  /** Inflicts the fault once. `time` starts at 1. */
  once(time: number): Promise<void>;
  end?(): Promise<void>;
  rules?(): Rules;
  /** Returns further figures, and violations that only this fault can cause. */
  judge?(observed: Observed): Judgement | Promise<Judgement>;
  close?(): Promise<void> | void;
}

export function onOneBot(fault: Fault): Scenario {
  const start = (random: Random) => {
    const { world } = fault;
    return World.start(typeof world === "function" ? world(random) : world);
  };
  return { name: fault.name, run: (run) => inflict([fault], run, start) };
}

/** Returns a function that lets random users write so many messages. */
export function writers(
  { world, random }: Pick<Stage<Store>, "world" | "random">,
  people: number,
  choose: () => Behaviour = () => "answer",
): (count: number, note?: string) => void {
  return (count, note = "") => {
    for (let left = count; left > 0; left--) {
      world.ledger.write({ from: `person${random.below(people)}`, behaviour: choose(), note });
    }
  };
}

/** Returns a sentence per event that a fault has cost an attempt, or whose attempt was not counted. */
export function attemptsLost({ stored }: Pick<Observed, "stored">, fault: string): string[] {
  return stored
    .filter(({ attempts }) => attempts !== 1)
    .map(({ id, attempts }) => `${id} has ${attempts} attempts, not 1, after ${fault}`);
}

/** Inflicts the faults one after another on the same bots, and checks every promise at the end. */
export async function inflict<S extends Store>(
  faults: readonly Fault<S>[],
  { size, seed, scale = 1, progress }: ScenarioRun,
  start: (random: Random) => Promise<World<S>>,
): Promise<Outcome> {
  const random = new Random(seed);
  const world = await start(random);
  const attacks: Attack[] = [];
  const figures: Record<string, number | string> = {};
  try {
    for (const { times: sizes, counted, begin } of faults) {
      const times = Math.max(1, Math.round(sizes[size] * scale));
      const attack = await begin({ world, random, size, times });
      attacks.push(attack);
      for (let time = 1; time <= times && !world.broken; time++) {
        await attack.once(time);
        await world.checkAcknowledged(`after ${counted}, time ${time}`);
        if (time % Math.ceil(times / 10) === 0) {
          progress(`${time} of ${times} ${counted}, ${world.ledger.said} said`);
        }
      }
      await attack.end?.();
      figures[counted] = times;
    }
    const mayRepeat = new Map(attacks.flatMap((each) => [...(each.rules?.().mayRepeat ?? [])]));
    const order = attacks.some((each) => each.rules?.().order === "any") ? "any" : "lane";
    const observed = await world.finish({ order, mayRepeat });
    const judged: Judgement[] = [];
    for (const attack of attacks) judged.push((await attack.judge?.(observed)) ?? { figures: {} });
    const audit = await world.store.audit();
    return {
      figures: Object.assign(
        figures,
        { events: observed.stored.length, answers: world.ledger.said },
        ...judged.map((each) => each.figures),
        audit.figures,
        spread("ready", world.readyMs),
      ),
      violations: [
        ...world.violations,
        ...judged.flatMap(({ violations = [] }) => violations),
        ...audit.violations,
      ],
    };
  } finally {
    for (const attack of attacks) await attack.close?.();
    await world.close();
  }
}
