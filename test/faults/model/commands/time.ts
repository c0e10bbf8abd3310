import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { type Command, command } from "../trial.ts";
import { LEASE } from "./claim.ts";

export const pass: Arbitrary<Command> = fc.constantFrom(1, 499, LEASE - 1, LEASE, 5_000).map((ms) =>
  command(`${ms} ms pass`, async (model, { clock }) => {
    model.now += ms;
    await clock.advance(ms);
  }),
);

/** Long enough for idle lanes to be swept, but too short for events to expire. */
export const rest: Arbitrary<Command> = fc.constant(
  command("10 minutes pass, and a sweep", async (model, { clock, store }) => {
    model.now += 600_001;
    await clock.advance(600_001);
    while (await store.inbox.sweep({ bodiesMs: 1e15, idsMs: 1e15, deadLettersMs: 1e15 }));
  }),
);

export const reopen: Arbitrary<Command> = fc.constant(
  command("reopen", async (model, { store }) => {
    model.recover();
    await store.reopen();
  }),
);

/** A consistent inbox has no lanes to heal. */
export const heal: Arbitrary<Command> = fc.constant(
  command("heal", async (_model, { store }) => assert.equal(await store.inbox.heal(), 0)),
);

export const healStranded: Arbitrary<Command> = fc.nat(2).map((pick) =>
  command(`strand and heal lane ${pick}`, async (model, { store }) => {
    const key = `lane ${pick}`;
    const lane = model.lanes.get(key);
    if (lane?.readyAt === undefined || lane.holder !== undefined) return;
    await store.strand(key);
    lane.readyAt = model.healedAt(key);
    assert.equal(await store.inbox.heal(), 1);
  }),
);
