import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import type { Platform } from "../faces/platform.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { answersTo, BotProcess } from "../support/world/bot-process.ts";
import { sqlite } from "../support/world/stores.ts";

async function startBot(platform: Platform, file: string): Promise<BotProcess> {
  const env = {
    START_FROM: "oldest",
    POLL_INTERVAL_MS: "50",
    AUDIT_INTERVAL_MS: "100",
    MIN_FREE_BYTES: "0",
  };
  const bot = await BotProcess.start(platform, { store: sqlite(file), env });
  platform.control.saveWebhook({ url: `${bot.url}/webhook` });
  return bot;
}

test("a process killed with -9 in the middle of an answer loses nothing and says nothing twice; SIGTERM ends the next one with 0", async () => {
  const platform = await runPlatform({ retryIntervalMs: 100 });
  const file = join(temporaryFolder(), "bot.db");
  const first = await startBot(platform, file);
  const acknowledged = new Set<string>();
  let answers = 0;
  platform.onTimeline((entry) => {
    if (entry.kind === "delivery" && entry.status === 200) {
      for (const id of entry.eventIds) acknowledged.add(id);
    }
    if (entry.kind !== "api" || entry.created?.messageId === undefined) return;
    answers += 1;
    // The platform has the reply, but the bot has not received the response.
    if (answers === 5) first.kill("SIGKILL");
  });
  const people = ["ada", "ben", "cleo"];
  const texts = Array.from({ length: 12 }, (_, index) => `message ${index + 1}`);
  const written = texts.map((text, index) => {
    const from = people[index % people.length] ?? "";
    const { conversationId = "" } = platform.control.act({ type: "dm.message", from, text });
    return { conversationId, text };
  });
  expect(await first.exited).toEqual({ code: null, signal: "SIGKILL" });
  const inbox = new Sqlite(file);
  const stored = inbox.prepare("SELECT id FROM event").pluck().all();
  expect(stored).toEqual(expect.arrayContaining([...acknowledged]));
  expect(inbox.pragma("integrity_check", { simple: true })).toBe("ok");
  inbox.close();

  const next = await startBot(platform, file);
  const due = written.length * 2;
  if (answers < due) await platform.waitFor("api", () => answers >= due);
  next.kill("SIGTERM");
  expect(await next.exited).toEqual({ code: 0, signal: null });
  for (const conversationId of new Set(written.map((one) => one.conversationId))) {
    const sent = platform.control.messages(conversationId).filter(({ fromBot }) => fromBot);
    const expected = written
      .filter((one) => one.conversationId === conversationId)
      .flatMap(({ text }) => answersTo(text));
    expect(sent.map(({ text }) => text)).toEqual(expected);
  }
});
