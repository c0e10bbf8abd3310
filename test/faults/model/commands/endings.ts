import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import type { Advance, Claim, Inbox } from "../../../faces/inbox.ts";
import type { InboxModel } from "../inbox-model.ts";
import { type Command, command, onClaim } from "../trial.ts";
import { checkFence, expectedOf, LEASE } from "./claim.ts";
import { batch, putBeside, show } from "./put.ts";

interface Ending {
  readonly text: string;
  model(model: InboxModel, claim: number): boolean;
  real(inbox: Inbox, claim: Claim): Promise<boolean>;
}

const delayMs = fc.constantFrom(0, 1, 500, 5_000);

const ending: Arbitrary<Ending> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(complete()) },
  { weight: 1, arbitrary: fc.constant(bury()) },
  { weight: 1, arbitrary: delayMs.map(retry) },
  { weight: 1, arbitrary: delayMs.map((ms) => release(ms, "Error: away")) },
  { weight: 1, arbitrary: delayMs.map((ms) => release(ms)) },
);

/** Usually selects one of the newest claims. */
export const back: Arbitrary<number> = fc.oneof(fc.nat(2), fc.nat(2), fc.nat(20));

export const end: Arbitrary<Command> = fc.tuple(back, ending).map(([back, ending]) =>
  onClaim(back, ending.text, async ({ n, real }, model, { store }) => {
    const expected = ending.model(model, n);
    assert.equal(await ending.real(store.inbox, real), expected, "the lease is held");
  }),
);

/** An event that arrives while its lane is being released must not be stranded. */
export const endBesidePut: Arbitrary<Command> = fc
  .tuple(back, ending, batch)
  .map(([back, ending, batch]) =>
    onClaim(back, `put ${show(batch)} beside ${ending.text}`, async ({ n, real }, model, trial) => {
      await putBeside(
        batch,
        () => ending.real(trial.store.inbox, real),
        (held) => assert.equal(held, ending.model(model, n), "the lease is held"),
        model,
        trial,
      );
    }),
  );

export const advance: Arbitrary<Command> = back.map((back) =>
  onClaim(back, "advance", async ({ n, real }, model, trial) => {
    const expected = model.advance(n);
    const { next, ...rest } = await trial.store.inbox.advance(real);
    assert.deepEqual({ ...rest, next: expectedOf(next) }, expected, "the advance");
    if (next !== undefined) checkFence(next, trial);
  }),
);

/**
 * If an event arrives while its lane continues, a shared inbox continues with it, or releases the lane. In a file, runs
 * end before new events of the same transaction arrive.
 */
export const advanceBesidePut: Arbitrary<Command> = fc.tuple(back, batch).map(([back, batch]) =>
  onClaim(back, `put ${show(batch)} beside advance`, async ({ n, real }, model, trial) => {
    const { inbox } = trial.store;
    const before = new Set(model.pending(real.lane).map(({ id }) => id));
    const between = inbox.shared && batch.events.some(({ lane }) => lane === real.lane);
    const compare = ({ next, ...rest }: Advance) => {
      const expected = model.advance(n, (pending) => {
        if (!inbox.shared) return pending.find(({ id }) => before.has(id));
        if (!between) return pending[0];
        return (
          next && pending.find(({ id }, nth) => id === next.id && (nth === 0 || before.has(id)))
        );
      });
      assert.deepEqual({ ...rest, next: expectedOf(next) }, expected, "the advance");
      if (next !== undefined) checkFence(next, trial);
    };
    await putBeside(batch, () => inbox.advance(real), compare, model, trial);
  }),
);

export const extend: Arbitrary<Command> = fc.array(back, { maxLength: 3 }).map((backs) =>
  command(`extend claims -${[...new Set(backs)].join(" -")}`, async (model, trial) => {
    const numbers = [...new Set(backs)]
      .map((back) => model.claims.length - 1 - back)
      .filter((n) => n >= 0);
    const expected = numbers.filter((n) => model.extend(n, LEASE)).map((n) => trial.claims[n]);
    const claims = numbers.flatMap((n) => trial.claims[n] ?? []);
    assert.deepEqual(await trial.store.inbox.extend(claims, LEASE), expected);
  }),
);

function complete(): Ending {
  return {
    text: "complete",
    model: (model, claim) => model.end(claim),
    real: (inbox, claim) => inbox.complete(claim),
  };
}

function bury(): Ending {
  return {
    text: "bury",
    model: (model, claim) => model.end(claim, "Error: boom"),
    real: (inbox, claim) => inbox.bury(claim, "Error: boom"),
  };
}

function retry(delayMs: number): Ending {
  return {
    text: `retry in ${delayMs} ms`,
    model: (model, claim) => model.postpone(claim, delayMs, true),
    real: (inbox, claim) => inbox.retry(claim, delayMs, "Error: not yet"),
  };
}

function release(delayMs: number, error?: string): Ending {
  return {
    text: `release for ${delayMs} ms${error === undefined ? " before it began" : ""}`,
    model: (model, claim) => model.postpone(claim, delayMs, false),
    real: (inbox, claim) => inbox.release(claim, delayMs, error),
  };
}
