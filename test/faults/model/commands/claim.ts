import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import type { Claim } from "../../../../src/inbox/inbox.ts";
import type { InboxModel } from "../inbox-model.ts";
import { type Command, command, type World } from "../world.ts";

export const LEASE = 1_000;

export const claim: Arbitrary<Command> = fc
  .record({ limit: fc.integer({ min: 1, max: 4 }), leaseMs: fc.constantFrom(LEASE, LEASE, 0) })
  .map(({ limit, leaseMs }) =>
    command(`claim ${limit} for ${leaseMs} ms`, async (model, world) => {
      await claimFrom(model, world, limit, leaseMs);
    }),
  );

/** Claims from both. The model has no opinion on lanes that became ready at the same moment. */
export async function claimFrom(
  model: InboxModel,
  world: World,
  limit: number,
  leaseMs: number,
): Promise<readonly Claim[]> {
  const ready = [...model.waiting()].filter(([, at]) => at <= model.now);
  const claims = await world.store.inbox.claim(limit, leaseMs);
  assert.equal(claims.length, Math.min(limit, ready.length), "the number of claims");
  const lanes = new Set(claims.map(({ lane }) => lane));
  assert.equal(lanes.size, claims.length, "a lane is claimed once");
  const times = (of: typeof ready) => of.map(([, at]) => at).sort((a, b) => a - b);
  const taken = ready.filter(([lane]) => lanes.has(lane));
  assert.deepEqual(times(taken), times(ready).slice(0, limit), "those that waited longest");
  for (const real of claims) check(real, model, world, leaseMs);
  return claims;
}

function check(real: Claim, model: InboxModel, world: World, leaseMs: number): void {
  const { fence, ...rest } = real;
  assert.deepEqual(rest, model.claim(real.lane, leaseMs));
  const before = world.claims.filter(({ lane }) => lane === real.lane).map((claim) => claim.fence);
  assert.ok(
    before.every((earlier) => earlier < fence),
    `fence ${fence} after ${before}`,
  );
  world.claims.push(real);
}
