import assert from "node:assert/strict";
import { claimFrom, LEASE } from "./commands/claim.ts";
import { fireTimers } from "./commands/effects.ts";
import { askEverything } from "./commands/questions.ts";
import { STEPS } from "./commands/steps.ts";
import type { InboxModel } from "./inbox-model.ts";
import type { Trial } from "./trial.ts";

/**
 * Compares all observable state: first the results of all queries, and then, while handling the events one by one,
 * their order, attempts and steps.
 */
export async function compareWholeState(model: InboxModel, trial: Trial): Promise<void> {
  await askEverything(model, trial);
  await drain(model, trial);
  for (;;) {
    const ms = model.kept.nextInMs(model.now);
    if (ms === undefined) break;
    model.now += ms;
    await trial.clock.advance(ms);
    await fireTimers(2, model, trial);
    await drain(model, trial);
  }
  await askEverything(model, trial);
}

async function drain(model: InboxModel, trial: Trial): Promise<void> {
  for (;;) {
    const waiting = [...model.waiting().values()];
    if (waiting.length === 0) break;
    const ms = Math.max(0, Math.min(...waiting) - model.now);
    model.now += ms;
    await trial.clock.advance(ms);
    const first = model.claims.length;
    await claimFrom(model, trial, 100, LEASE);
    for (let n = first; n < model.claims.length; n++) await finish(n, model, trial);
  }
  assert.equal((await trial.store.inbox.stats()).pending, 0, "everything was handled");
}

async function finish(n: number, model: InboxModel, { store, claims }: Trial): Promise<void> {
  const real = claims[n];
  if (real === undefined) throw new Error(`the store never returned claim ${n}`);
  for (const name of STEPS) {
    const expected = model.beginStep(n, name, "");
    assert.deepEqual(await store.inbox.beginStep(real, name, ""), expected, `step ${name}`);
  }
  assert.equal(await store.inbox.complete(real), model.end(n));
}
