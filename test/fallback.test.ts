import { describe, expect, test } from "vitest";
import { LogWorld } from "./support/world/log-world.ts";
import { sqlite } from "./support/world/stores.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

describe("a whole bot takes over", () => {
  test.each([3, -3])("in time where the platform's clock is %i h off", async (hours) => {
    const world = new LogWorld();
    world.platformAheadMs = hours * HOUR;
    const bot = await world.start();
    await world.clock.advance(MINUTE - 1_000);
    world.events.add("1", "mention", world.clock.now() + hours * HOUR);
    await world.clock.advance(1_000);
    expect((await bot.status()).inbox).toBeDefined();
    // The event was created a second before the audit found it. The platform's times have a resolution of one second.
    await world.clock.advance(42_000);
    expect(bot.mode).toBe("auditing");
    await world.clock.advance(4_000);
    expect(bot.mode).toBe("polling");
  });

  test("not for a type that never arrived by webhook, even after a restart", async () => {
    const world = new LogWorld({ store: sqlite() });
    const before = await world.start();
    world.events.add("1", "mention");
    expect(await world.deliver(before, world.events.entries)).toBe(200);
    await before.stop();
    const after = await world.start();
    await world.clock.advance(MINUTE);
    world.events.add("2", "like");
    await world.clock.advance(10 * MINUTE);
    expect(after.mode).toBe("auditing");
    world.events.add("3", "mention");
    await world.clock.advance(3 * MINUTE);
    expect(after.mode).toBe("polling");
  });
});

test("an event without a date does not hold the cursor, so that what is forgotten is not read again", async () => {
  const world = new LogWorld();
  const runs: string[] = [];
  const options = {
    auditIntervalMs: 10 * MINUTE,
    delivery: "polling",
    pollIntervalMs: 10 * MINUTE,
    retention: { bodiesMs: HOUR, idsMs: 2 * HOUR },
  } as const;
  const bot = await world.start(options, (made) =>
    made.on("mention", (ctx) => void runs.push(ctx.event.id)),
  );
  for (const id of ["1", "2", "3"]) world.events.add(id, "mention");
  Object.assign(world.events.entries[1] ?? {}, { createdAt: undefined });
  for (let hour = 0; hour < 10; hour++) await world.clock.advance(HOUR);
  expect(runs).toEqual(["1", "2", "3"]);
  expect((await bot.status()).log?.cursor).toBe("3");
});
