import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import type { Claim } from "../../../faces/inbox.ts";
import { compareText } from "../ids.ts";
import type { ExpectedClaim, InboxModel } from "../inbox-model.ts";
import { type Command, command, type World } from "../world.ts";

export const LEASE = 1_000;

export const claim: Arbitrary<Command> = fc
  .record({ limit: fc.integer({ min: 1, max: 4 }), leaseMs: fc.constantFrom(LEASE, LEASE, 0) })
  .map(({ limit, leaseMs }) =>
    command(`claim ${limit} for ${leaseMs} ms`, async (model, world) => {
      await claimFrom(model, world, limit, leaseMs);
    }),
  );

export async function claimFrom(
  model: InboxModel,
  world: World,
  limit: number,
  leaseMs: number,
): Promise<void> {
  const expected = model.claim(limit, leaseMs);
  const claims = await world.store.inbox.claim(limit, leaseMs);
  const inOrder = [...claims].sort((a, b) => compareText(a.lane, b.lane));
  assert.deepEqual(inOrder.map(expectedOf), expected, "the claims");
  for (const real of inOrder) checkFence(real, world);
}

export function checkFence(real: Claim, world: World): void {
  const { fence } = real;
  const before = world.claims.filter(({ lane }) => lane === real.lane).map((claim) => claim.fence);
  assert.ok(
    before.every((earlier) => earlier < fence),
    `fence ${fence} after ${before}`,
  );
  world.claims.push(real);
}

/** Drops the fence and any fields added by a store, which the model cannot predict. */
export function expectedOf(claim: Claim): ExpectedClaim;
export function expectedOf(claim: Claim | undefined): ExpectedClaim | undefined;
export function expectedOf(claim: Claim | undefined): ExpectedClaim | undefined {
  if (claim === undefined) return undefined;
  const { lane, id, type, body, source, attempt, crashes, late, receivedAt, trace } = claim;
  return { lane, id, type, body, source, attempt, crashes, late, receivedAt, trace };
}
