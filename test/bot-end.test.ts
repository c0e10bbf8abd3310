import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { Bot } from "../src/index.ts";
import { Dispatcher } from "./faces/dispatcher.ts";
import { SqliteInbox } from "./faces/inbox-sqlite.ts";
import { logSink } from "./support/log.ts";
import { botOptions, runPlatform } from "./support/running-bot.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

afterEach(() => void vi.restoreAllMocks());

const boom = new Error("boom");

/** Lets a method run once, then rejects its promise. */
function failsAfterwards(proto: object, method: string): void {
  const original: (...args: unknown[]) => Promise<void> = Reflect.get(proto, method);
  vi.spyOn(proto as Record<string, () => Promise<void>>, method).mockImplementationOnce(
    async function (this: unknown, ...args: unknown[]) {
      await original.apply(this, args);
      throw boom;
    },
  );
}

async function onFile() {
  const platform = await runPlatform();
  const file = join(temporaryFolder(), "bot.db");
  const options = { ...botOptions(platform), databaseUrl: `file:${file}` };
  return { file, options: { ...options, logger: logSink().log } };
}

test("failures while a bot stops are reported, and everything is still closed", async () => {
  const { file, options } = await onFile();
  const bot = new Bot(options);
  await bot.start({ standalone: false });
  const { url } = bot;
  // Positive control: the file is in use until the bot ends.
  expect(() => new SqliteInbox({ file })).toThrow(
    expect.objectContaining({ code: "INBOX_IN_USE" }),
  );
  failsAfterwards(Dispatcher.prototype, "drain");
  await expect(bot.stop()).rejects.toBe(boom);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  await new SqliteInbox({ file }).close();
});

test("a failed start reports its cause, not later failures to close", async () => {
  const { options } = await onFile();
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const log = logSink();
  failsAfterwards(SqliteInbox.prototype, "close");
  const bot = new Bot({ ...options, host: "127.0.0.1", port, logger: log.log });
  const starting = bot.start({ standalone: false });
  await expect(starting).rejects.toMatchObject({ code: "ADDRESS_IN_USE" });
  expect(log.records).toContainEqual(
    expect.objectContaining({ level: "error", err: expect.anything() }),
  );
});

test("a second bot on the same file fails at once and reports that the first is in this process", async () => {
  const { options } = await onFile();
  const first = new Bot(options);
  await first.start({ standalone: false });
  onTestFinished(() => first.stop());
  const starting = new Bot(options).start({ standalone: false });
  await expect(starting).rejects.toMatchObject({
    code: "INBOX_IN_USE",
    message: expect.stringContaining("Another bot in this process"),
  });
  await first.stop();
  const next = new Bot(options);
  await next.start({ standalone: false });
  await next.stop();
});
