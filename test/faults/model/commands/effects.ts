import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import type { Effects } from "../../../faces/inbox.ts";
import { endings, eventOf } from "../../../support/effects.ts";
import type { InboxModel } from "../inbox-model.ts";
import type { ModelEffects } from "../kept-model.ts";
import { type Command, command, onClaim, type Trial } from "../trial.ts";
import { checkFence, expectedOf } from "./claim.ts";
import { back } from "./endings.ts";
import { refOf, STEPS } from "./steps.ts";

const STATE_KEYS: readonly string[] = ["mine", "yours"];

const NAME = "remind";

const shape = fc.record({
  way: fc.constantFrom("complete", "bury", "advance", "advance"),
  key: fc.constantFrom(...STATE_KEYS),
  deletes: fc.boolean(),
  /** The state version that the run has read: the current version, an earlier version, or none. */
  base: fc.constantFrom("current", "current", "current", "earlier", "none"),
  timer: fc.option(
    fc.record({ key: fc.constantFrom("a", "b"), delayMs: fc.constantFrom(0, 1, 5_000) }),
  ),
  cancel: fc.option(fc.constantFrom("a", undefined), { nil: null }),
  finishes: fc.option(fc.constantFrom(...STEPS)),
});

type Shape = typeof shape extends Arbitrary<infer T> ? T : never;

export const endWithEffects: Arbitrary<Command> = fc.tuple(back, shape).map(([back, some]) =>
  onClaim(back, `${some.way} with ${JSON.stringify(some)}`, async ({ n, real }, model, trial) => {
    const expected = effectsOf(some, n, real.lane, model);
    const written = realEffects(expected, trial);
    if (model.holds(n) && model.kept.conflicts(expected)) {
      const conflict = endings[some.way](trial.store.inbox, real, written);
      await assert.rejects(conflict, { code: "STATE_CONFLICT" });
      return;
    }
    if (some.way === "advance") await advance(n, expected, written, model, trial);
    else {
      const error = some.way === "bury" ? "Error: boom" : undefined;
      const held = model.end(n, error, expected);
      assert.equal(await endings[some.way](trial.store.inbox, real, written), held, "the lease");
    }
    await learnVersion(some.key, model, trial);
  }),
);

async function advance(
  n: number,
  expected: ModelEffects,
  written: Effects,
  model: InboxModel,
  trial: Trial,
): Promise<void> {
  const real = trial.claims[n];
  if (real === undefined) throw new Error(`the store never returned claim ${n}`);
  const outcome = model.advance(n, undefined, expected);
  const { next, ...rest } = await trial.store.inbox.advance(real, written);
  assert.deepEqual({ ...rest, next: expectedOf(next) }, outcome, "the advance");
  if (next !== undefined) checkFence(next, trial);
}

function effectsOf(some: Shape, n: number, lane: string, model: InboxModel): ModelEffects {
  const current = model.kept.states.get(some.key)?.version;
  const version =
    some.base === "current" ? current : some.base === "none" ? undefined : (current ?? 1) - 1;
  const value = some.deletes ? undefined : `{"n":${n}}`;
  const { timer, cancel } = some;
  const set = timer && { lane, name: NAME, ...timer, eventId: `timer:${n}`, body: "1" };
  return {
    states: value === undefined && version === undefined ? [] : [{ key: some.key, value, version }],
    timers: set ? [set] : [],
    cancels: cancel === null ? [] : [{ lane, name: NAME, key: cancel }],
    result: resultOf(some.finishes, n, model),
  };
}

/** Skips steps that have a result, as `finish` does. */
function resultOf(step: string | null, n: number, model: InboxModel): ModelEffects["result"] {
  const id = model.claims[n]?.id ?? "";
  if (step === null || model.events.get(id)?.steps.get(step)?.state === "done") return undefined;
  return { step, result: `result ${n}`, ref: n % 2 === 0 ? refOf(id, step) : undefined };
}

function realEffects(effects: ModelEffects, { versions }: Trial): Effects {
  const states = effects.states.map(({ key, value, version }) => {
    const known = version === undefined ? undefined : (versions.get(version) ?? "never written");
    return { key, value, version: known };
  });
  return { ...effects, states };
}

async function learnVersion(key: string, model: InboxModel, trial: Trial): Promise<void> {
  const version = model.kept.states.get(key)?.version;
  const [state] = await trial.store.inbox.states([key]);
  if (version === undefined || state === undefined || trial.versions.has(version)) return;
  assert.ok(![...trial.versions.values()].includes(state.version), "a version of its own");
  trial.versions.set(version, state.version);
}

export const fire: Arbitrary<Command> = fc
  .integer({ min: 1, max: 3 })
  .map((limit) =>
    command(`fire ${limit} timers`, (model, trial) => fireTimers(limit, model, trial)),
  );

/** Makes a lane's timers due early, as an operator can. */
export const makeDue: Arbitrary<Command> = fc
  .tuple(fc.nat(7), fc.constantFrom("a", "b", undefined))
  .map(([place, key]) =>
    command(`make timers due: ${place} ${key}`, async (model, { store }) => {
      const timers = model.kept.timers();
      const lane = timers[place % Math.max(timers.length, 1)]?.lane ?? "dm:none";
      const expected = model.kept.makeDue(lane, NAME, key, model.now);
      const made = await store.inbox.admin.makeTimersDue({ lane, name: NAME, key });
      assert.equal(made, expected, "makeTimersDue");
    }),
  );

export async function fireTimers(limit: number, model: InboxModel, trial: Trial): Promise<void> {
  const fired = model.fire(limit, eventOf);
  const expected = { fired, nextInMs: model.kept.nextInMs(model.now) };
  assert.deepEqual(await trial.store.inbox.fireTimers(limit, eventOf), expected, "fireTimers");
}

export async function askKept(model: InboxModel, { store, versions }: Trial): Promise<void> {
  const states = await store.inbox.states(STATE_KEYS);
  const expected = STATE_KEYS.flatMap((key) => {
    const state = model.kept.states.get(key);
    return state === undefined ? [] : [{ ...state, key, version: versions.get(state.version) }];
  });
  assert.deepEqual(
    [...states].sort((a, b) => (a.key < b.key ? -1 : 1)),
    expected,
    "states",
  );
  const { timers } = await store.inbox.admin.timers({ limit: 1_000 });
  assert.deepEqual(timers, model.kept.timers(), "timers");
}
