import { afterAll, expect, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { kindOf } from "../support/log.ts";
import { emptyPlace } from "../support/postgres/open.ts";
import { postgres } from "../support/world/stores.ts";
import { Spans } from "./spans.ts";
import { TracedWorld } from "./world.ts";

const spans = new Spans();

afterAll(() => spans.close());

test("an event that comes to one instance and is handled by another is in one trace", async () => {
  const world = new TracedWorld();
  const options = { ...postgres(await emptyPlace()), tracing: "on" } as const;
  const handled: string[] = [];
  const start = (name: string, fails: boolean): Promise<Bot> =>
    world.startBot(
      (bot) =>
        bot.on("dm.message", async (ctx) => {
          handled.push(`${name} ${ctx.attempt}`);
          if (fails) throw new Error("a mistake");
          await ctx.reply("hi");
        }),
      options,
    );
  const receiver = await start("receiver", true);
  await world.deliver(receiver, [world.write("c_1", "hello")]);
  const other = await start("other", false);
  await receiver.stop();
  await world.clock.advance(1_000);
  while ((await other.inbox.stats()).done === 0) await world.clock.advance(100);
  expect(handled).toEqual(["receiver 1", "other 2"]);
  const [received] = spans.named("receive");
  const { traceId = "" } = received ?? {};
  expect(spans.tree(traceId)).toEqual([
    "receive",
    ...["  process dm.message", "  process dm.message", "    GET /me", "    step reply/1"],
    "      POST /dm/conversations/{id}/messages",
  ]);
  expect((await other.inbox.show("evt_0001")).trace).toBe(traceId);
  // Both instances log the trace as well.
  const lines = world.log.records.filter((line) => line["trace"] === traceId).map(kindOf);
  expect(lines).toEqual(["delivery", "retry", "request", "request", "step", "handled"]);
});
