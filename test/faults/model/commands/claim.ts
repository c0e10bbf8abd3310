import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import type { Claim } from "../../../faces/inbox.ts";
import { compareText } from "../ids.ts";
import type { ExpectedClaim, InboxModel } from "../inbox-model.ts";
import { type Command, command, type Trial } from "../trial.ts";

export const LEASE = 1_000;

export const claim: Arbitrary<Command> = fc
  .record({ limit: fc.integer({ min: 1, max: 4 }), leaseMs: fc.constantFrom(LEASE, LEASE, 0) })
  .map(({ limit, leaseMs }) =>
    command(`claim ${limit} for ${leaseMs} ms`, async (model, trial) => {
      await claimFrom(model, trial, limit, leaseMs);
    }),
  );

export async function claimFrom(
  model: InboxModel,
  trial: Trial,
  limit: number,
  leaseMs: number,
): Promise<void> {
  const expected = model.claim(limit, leaseMs);
  const claims = await trial.store.inbox.claim(limit, leaseMs);
  const inOrder = [...claims].sort((a, b) => compareText(a.lane, b.lane));
  assert.deepEqual(inOrder.map(expectedOf), expected, "the claims");
  for (const real of inOrder) checkFence(real, trial);
}

export function checkFence(real: Claim, trial: Trial): void {
  const { fence } = real;
  const before = trial.claims.filter(({ lane }) => lane === real.lane).map((claim) => claim.fence);
  assert.ok(
    before.every((earlier) => earlier < fence),
    `fence ${fence} after ${before}`,
  );
  trial.claims.push(real);
}

/** Drops the fence and any fields added by a store, which the model cannot predict. */
export function expectedOf(claim: Claim): ExpectedClaim;
export function expectedOf(claim: Claim | undefined): ExpectedClaim | undefined;
export function expectedOf(claim: Claim | undefined): ExpectedClaim | undefined {
  if (claim === undefined) return undefined;
  const { lane, id, type, body, source, attempt, crashes, late, receivedAt, trace } = claim;
  return { lane, id, type, body, source, attempt, crashes, late, receivedAt, trace };
}
