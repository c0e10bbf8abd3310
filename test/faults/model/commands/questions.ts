import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import type { EventSummary } from "../../../faces/inbox.ts";
import { deadLetters } from "../../../support/dead-letters.ts";
import { IDS } from "../ids.ts";
import type { InboxModel } from "../inbox-model.ts";
import { type Command, command, type Trial } from "../trial.ts";
import { askKept } from "./effects.ts";
import { refOf, STEPS } from "./steps.ts";

export const ask: Arbitrary<Command> = fc.constant(command("ask everything", askEverything));

export async function askEverything(model: InboxModel, trial: Trial): Promise<void> {
  const { inbox } = trial.store;
  assert.deepEqual(await inbox.stats(), model.stats(), "stats");
  assert.equal(await inbox.nextReadyIn(), nextReadyIn(model), "nextReadyIn");
  assert.deepEqual(await inbox.webhookTypes(), model.webhookTypes, "webhookTypes");
  for (const name of ["events", "other", "none"]) {
    assert.equal(await inbox.cursor(name), model.cursors.get(name), `cursor ${name}`);
  }
  const ids = new Set([...IDS, ...model.events.keys()]);
  const refs = [...ids].flatMap((id) => STEPS.map((step) => refOf(id, step)));
  assert.deepEqual(await inbox.claimedRefs(refs), model.refs(), "claimedRefs");
  const letters = await deadLetters(inbox);
  assert.deepEqual(sorted(letters), sorted(model.deadLetters()), "deadLetters");
  const times = letters.map(({ endedAt = 0 }) => endedAt);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => b - a),
    "newest dead letters first",
  );
  await askKept(model, trial);
}

function nextReadyIn(model: InboxModel): number | undefined {
  const times = [...model.waiting().values()];
  return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - model.now);
}

function sorted(letters: readonly EventSummary[]): EventSummary[] {
  return [...letters].sort((a, b) => (a.id < b.id ? -1 : 1));
}
