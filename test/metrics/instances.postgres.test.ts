import { expect, test } from "vitest";
import { emptyPlace } from "../support/postgres/open.ts";
import { dm, value, World } from "./world.ts";

test("two instances on PostgreSQL report the leader, and the database's metrics", async () => {
  const { url, schema } = await emptyPlace();
  const options = { databaseUrl: url, databaseSchema: schema };
  const world = new World();
  const [one, other] = [await world.start(options), await world.start(options)];
  while ((await one.status()).instances?.poller?.holder === undefined) await world.clock.advance(0);
  await world.deliver(one, [dm("1"), dm("1")]);
  const both = async (name: string) => [await value(one, name), await value(other, name)];
  expect(await both("service_bot_instances")).toEqual([2, 2]);
  expect(await both("service_bot_log_readers")).toEqual([1, 1]);
  expect((await both("service_bot_log_reader")).sort()).toEqual([0, 1]);
  const source = { source: "webhook", type: "dm.message" };
  expect(await value(one, "service_bot_events_total", source)).toBe(1);
  expect(await value(other, "service_bot_events_total", source)).toBe(0);
  const seconds = "service_bot_store_transaction_duration_seconds_count";
  expect(Math.min(...(await both(seconds)))).toBeGreaterThan(0);
  expect(await value(one, "service_bot_build_info", { store: "postgres" })).toBe(1);
});
