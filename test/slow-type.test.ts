import { expect, test } from "vitest";
import { gate } from "./dispatcher/harness.ts";
import { payloads } from "./events/samples.ts";
import { startTestBot } from "./support/world/test-bot.ts";

test("sixteen mentions that hang do not delay a message", async () => {
  const hanging = gate();
  const answered = gate();
  const bot = await startTestBot((made) =>
    made
      .on("mention", () => hanging.pass())
      .on("dm.message", async (ctx) => {
        await ctx.reply("hello");
        void answered.pass();
      }),
  );
  const mentions = Array.from({ length: 16 }, (_, n) => ({
    type: "mention",
    payload: { ...payloads.mention, postId: `p_${n}` },
  }));
  const delivered = bot.deliver(mentions);
  await hanging.entered;
  const message = bot.deliver({ type: "dm.message", payload: payloads["dm.message"] });
  await answered.entered;
  expect(bot.sent).toMatchObject([{ kind: "dm", text: "hello" }]);
  hanging.open();
  await Promise.all([delivered, message]);
});
