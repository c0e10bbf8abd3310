import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { type Command, onClaim } from "../trial.ts";
import { back } from "./endings.ts";

export const STEPS: readonly string[] = ["reply/1", "reply/2"];

const name = fc.constantFrom(...STEPS);
const request = fc.nat(99).map((n) => `request ${n}`);

export const begin: Arbitrary<Command> = fc
  .tuple(back, name, request)
  .map(([back, name, request]) =>
    onClaim(back, `begin ${name} (${request})`, async ({ n, real }, model, { store }) => {
      const expected = model.beginStep(n, name, request);
      assert.deepEqual(await store.inbox.beginStep(real, name, request), expected);
    }),
  );

export const restart: Arbitrary<Command> = fc
  .tuple(back, name, request)
  .map(([back, name, request]) =>
    onClaim(back, `restart ${name} (${request})`, async ({ n, real }, model, { store }) => {
      const expected = model.restartStep(n, name, request);
      assert.equal(await store.inbox.restartStep(real, name, request), expected);
    }),
  );

/** Skips steps that have a result, because the contract does not say what happens if they finish again. */
export const finish: Arbitrary<Command> = fc
  .tuple(back, name, fc.boolean())
  .map(([back, name, named]) =>
    onClaim(back, `finish ${name}`, async ({ n, real }, model, { store }) => {
      if (model.events.get(real.id)?.steps.get(name)?.state === "done") return;
      const result = `result ${n}`;
      const ref = named ? refOf(real.id, name) : undefined;
      const expected = model.finishStep(n, name, result, ref);
      assert.equal(await store.inbox.finishStep(real, name, result, ref), expected);
    }),
  );

export const drop: Arbitrary<Command> = fc.tuple(back, name).map(([back, name]) =>
  onClaim(back, `drop ${name}`, async ({ n, real }, model, { store }) => {
    const expected = model.dropStep(n, name);
    assert.equal(await store.inbox.dropStep(real, name), expected);
  }),
);

export function refOf(id: string, step: string): string {
  return `${id} ${step}`;
}
