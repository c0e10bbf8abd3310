import type { Behaviour } from "../bot/behaviours.ts";
import type { BotSettings } from "../bot/protocol.ts";
import { Random } from "../random.ts";
import { spread } from "../report.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";
import type { Observed, Rules } from "./checker.ts";
import { Load, type LoadOptions } from "./load.ts";
import type { SqliteStore, Store } from "./store.ts";
import { World, type WorldOptions } from "./world.ts";

export interface Fault<S extends Store = SqliteStore> {
  /** Unit of `times`, for example `kills`. */
  readonly counted: string;
  readonly times: Readonly<Record<Size, number>>;
  /** True if a bot runs when the fault begins. Default: the fault starts its bots, or they run already. */
  readonly isBooted?: true;
  /** Settings with which the running bots restart before the fault. Default: they go on. */
  readonly settings?: Partial<BotSettings>;
  /** Users who write during the fault. Default: only the fault itself writes. */
  readonly load?: (size: Size) => Pick<LoadOptions, "people" | "behaviours">;
  begin(stage: Stage<S>): Attack | Promise<Attack>;
}

export interface Stage<S extends Store = SqliteStore> {
  readonly world: World<S>;
  readonly random: Random;
  readonly size: Size;
  readonly times: number;
  readonly progress: (line: string) => void;
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

export interface NamedFault<S extends Store = SqliteStore> extends Fault<S> {
  readonly name: string;
}

interface SingleBotFault extends NamedFault {
  readonly world?: WorldOptions | ((random: Random) => WorldOptions);
}

export function onOneBot({ name, world, ...fault }: SingleBotFault): Scenario {
  const start = (random: Random) =>
    World.start(typeof world === "function" ? world(random) : world);
  return { name, run: (run) => inflict([fault], run, start) };
}

/** Pause between two messages of the load, in ms. A small run shares the machine with other tests. */
const PAUSE_MS: Readonly<Record<Size, number>> = { small: 15, large: 4 };

/** The load of users who write all kinds of messages. */
export const usualLoad = (): Pick<LoadOptions, "people" | "behaviours"> => ({});

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
  run: ScenarioRun,
  start: (random: Random) => Promise<World<S>>,
): Promise<Outcome> {
  const random = new Random(run.seed);
  const world = await start(random);
  const attacks: Attack[] = [];
  const figures: Record<string, number | string> = {};
  try {
    let settings: Fault["settings"];
    for (const fault of faults) {
      const times = Math.max(1, Math.round(fault.times[run.size] * (run.scale ?? 1)));
      if (fault.settings !== undefined && fault.settings !== settings) {
        await world.restart(fault.settings);
      }
      settings = fault.settings;
      if (fault.isBooted) await world.boot();
      const stage = { world, random, size: run.size, times, progress: run.progress };
      const attack = await fault.begin(stage);
      attacks.push(attack);
      await repeat(fault, attack, stage);
      await attack.end?.();
      figures[fault.counted] = times;
    }
    const rules: readonly Rules[] = attacks.map((attack) => attack.rules?.() ?? {});
    const mayRepeat = new Map(rules.flatMap((each) => [...(each.mayRepeat ?? [])]));
    const observed = await world.finish(Object.assign({}, ...rules, { mayRepeat }));
    const judged: Judgement[] = [];
    for (const attack of attacks) judged.push((await attack.judge?.(observed)) ?? { figures: {} });
    const audit = await world.store.audit();
    const { killsInReply: inReply } = world;
    return {
      figures: Object.assign(
        figures,
        { events: observed.stored.length, answers: world.ledger.said },
        inReply === undefined ? {} : { "kills in the middle of an answer": inReply },
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

/** Inflicts a fault as often as planned, or until a promise is broken, while its users write. */
async function repeat<S extends Store>(
  { counted, load }: Fault<S>,
  attack: Attack,
  stage: Stage<S>,
): Promise<void> {
  const { world, times, progress } = stage;
  const users = load && startLoad(stage, load(stage.size));
  try {
    for (let time = 1; time <= times && !world.broken; time++) {
      await attack.once(time);
      await world.checkAcknowledged(`after ${counted}, time ${time}`);
      if (time % Math.ceil(times / 10) === 0) {
        progress(`${time} of ${times} ${counted}, ${world.ledger.said} said`);
      }
    }
  } finally {
    await users?.stop();
  }
}

function startLoad<S extends Store>(
  { world, random, size }: Stage<S>,
  users: Pick<LoadOptions, "people" | "behaviours">,
): Load {
  // Use a separate random source, because the number of its calls depends on how fast the bots reply.
  const own = new Random(random.below(2 ** 31));
  return new Load({ ledger: world.ledger, random: own, pauseMs: () => PAUSE_MS[size], ...users });
}
