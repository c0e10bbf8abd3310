import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { emptyPlace } from "../support/postgres/open.ts";
import { runPlatform } from "../support/running-bot.ts";
import { BotProcess } from "../support/world/bot-process.ts";
import { postgres } from "../support/world/stores.ts";

const script = fileURLToPath(new URL("./patient-bot.ts", import.meta.url));

async function scene(env: Record<string, string> = {}) {
  const platform = await runPlatform({ retryIntervalMs: 100 });
  const store = postgres(await emptyPlace());
  const intervals = { START_FROM: "oldest", POLL_INTERVAL_MS: "50", AUDIT_INTERVAL_MS: "100" };
  const start = () => new BotProcess(platform, { script, store, env: { ...intervals, ...env } });
  const write = (text: string) => platform.control.act({ type: "dm.message", from: "ada", text });
  const isSaid = (text: string) => (entry: { readonly text?: string | undefined }) =>
    entry.text === `re: ${text}`;
  const said = (text: string) => platform.waitFor("api", isSaid(text));
  const { conversationId = "" } = write("hello");
  const answers = () =>
    platform.control
      .messages(conversationId)
      .filter(({ fromBot }) => fromBot)
      .map(({ text }) => text);
  return { platform, start, write, said, isSaid, answers };
}

describe("after kill -9 in the middle of a reply, whose lease would last for an hour", () => {
  test("the same bot, started again, adopts the reply and answers the next message", async () => {
    const { platform, start, write, said, isSaid, answers } = await scene();
    const first = start();
    await said("hello");
    // The platform has the reply, but the bot has not received the response.
    platform.onTimeline((entry) => {
      if (entry.kind === "api" && isSaid("one")(entry)) first.kill("SIGKILL");
    });
    write("one");
    await first.exited;
    write("two");
    const next = start();
    await said("two");
    expect(answers()).toEqual(["re: hello", "re: one", "re: two"]);
    await next.end("SIGTERM");
  });

  test("another instance takes over the conversation and the event log", async () => {
    const { platform, start, write, said, isSaid, answers } = await scene({ DELIVERY: "polling" });
    const first = start();
    await said("hello");
    const other = start();
    await other.message("ready");
    // Only the first instance reads the log. Either instance may reply.
    platform.onTimeline((entry) => {
      if (entry.kind === "api" && isSaid("one")(entry)) first.kill("SIGKILL");
    });
    write("one");
    await first.exited;
    write("two");
    await said("two");
    expect(answers()).toEqual(["re: hello", "re: one", "re: two"]);
  });
});
