import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../faces/errors.ts";
import { Random } from "../faults/random.ts";
import { inflict, insisting } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { Load } from "./load.ts";
import { type Decided, Operator } from "./operator.ts";
import { type Plan, planOf, type Span } from "./plan.ts";
import { type Sample, sample } from "./sampler.ts";
import { openStage, type Stage } from "./stage.ts";

export interface SoakOptions {
  /** For the database, the platform's state and the bot's log. */
  readonly folder: string;
  readonly seed: number;
  /** Events per second. */
  readonly rate: number;
  readonly seconds: number;
  /** How many events there are at least, however long they take. Default 0. */
  readonly atLeast?: number;
  /** Between two samples, in milliseconds. */
  readonly sampleMs: number;
  readonly onSample: (sample: Sample) => void;
  readonly tell: (line: string) => void;
}

/** What was done and seen. */
export interface SoakRun {
  readonly spans: readonly Span[];
  readonly events: number;
  readonly answered: number;
  readonly hopeless: number;
  readonly decided: Decided;
  /** Requests to the API that a fault has touched. */
  readonly faulted: number;
  /** Broken promises: events that were not answered exactly once. */
  readonly violations: readonly string[];
}

/** The rest has so long to be handled after the last event, in milliseconds. */
const SETTLE_MS = 300_000;

/** Between two looks whether it is, in milliseconds. */
const LOOK_MS = 1_000;

/** A bot, its platform, people, bad luck and somebody who looks after it all, for a while. */
export async function soak(options: SoakOptions): Promise<SoakRun> {
  const stage = await openStage(options.folder);
  const ended = new AbortController();
  try {
    return await play(stage, options, ended);
  } finally {
    ended.abort();
    await stage.close();
  }
}

async function play(stage: Stage, options: SoakOptions, ended: AbortController): Promise<SoakRun> {
  const { seed, rate, seconds, atLeast = 0, tell } = options;
  const { control, bot, databaseFile } = stage;
  const { signal } = ended;
  const ledger = new Ledger();
  const random = new Random(seed);
  const load = new Load({ control, ledger, random, rate, seconds, atLeast, tell, signal });
  const operator = new Operator(`file:${databaseFile}`, ledger);
  const plan = planOf(seed, seconds);
  const watching = Promise.all([
    ledger.follow(control, signal),
    sample({ ...stage, sent: () => load.sent }, options.sampleMs, signal, options.onSample),
  ]);
  const work = [load.run(), ...happenings(stage, load, plan, operator, tell)];
  await Promise.race([Promise.all(work), watching]);
  tell("the load has ended");
  await settle(bot, operator, ledger);
  ended.abort();
  await watching;
  await bot.call("stop");
  const { events, answered, hopeless, faulted } = ledger;
  const { decided } = operator;
  const violations = ledger.violations();
  return { spans: plan.spans, events, answered, hopeless, decided, faulted, violations };
}

/** What happens at its time in the plan; each promise ends with it. */
function happenings(
  stage: Stage,
  load: Load,
  { spans, rounds }: Plan,
  operator: Operator,
  tell: (line: string) => void,
): Promise<void>[] {
  const target = { ...stage, ask: insisting(stage.control) };
  return [
    ...spans.map(async ({ kind, from, to }) => {
      await load.reached(from);
      tell(`${kind} begins`);
      await inflict(kind, load.reached(to), target);
      tell(`${kind} ends`);
    }),
    ...rounds.map(async (second) => {
      await load.reached(second);
      tell(`dead letters: ${await operator.round().catch(messageOf)}`);
    }),
  ];
}

/** Resolves when all is answered, nothing is pending, and a person has seen to the last dead letters. */
async function settle(bot: Stage["bot"], operator: Operator, ledger: Ledger): Promise<void> {
  const end = performance.now() + SETTLE_MS;
  let before = false;
  while (performance.now() < end) {
    const { pending, deadLetters } = await bot.call("sample");
    const settled = pending === 0 && deadLetters === 0 && ledger.isSettled;
    // Twice in a row: the ledger may not have seen the last events the first time.
    if (settled && before) return;
    before = settled;
    if (deadLetters > 0) await operator.round();
    await wait(LOOK_MS);
  }
}
