import { createServer } from "node:http";
import express from "express";
import { BodyBudget } from "../../src/core/body.ts";
import { systemClock } from "../../src/core/clock.ts";
import { listen } from "../../src/core/listen.ts";
import { createLogger } from "../../src/core/logger.ts";
import { defaultLane } from "../../src/events/lane.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { logFacts } from "../../src/observe/log.ts";
import { toExpress, toNodeListener } from "../../src/receiver/adapters.ts";
import { Receiver } from "../../src/receiver/receive.ts";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";
import { SECRET } from "../support/formats.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { makeWebhookBot, startOnPort } from "../support/webhook-bot.ts";

/** What stands in front of the inbox. */
export type Face = "own" | "express" | "bot";

const folder = makeFolder();
let files = 0;
const MAX_BACKLOG = 100_000_000;
let close: () => Promise<unknown>;
let settle: () => Promise<void> = () => Promise.resolve();
let wake: () => Promise<unknown> = () => Promise.resolve();

/** Our own receiver with an inbox on the disk, or a whole bot with a handler that does nothing. */
const handlers = {
  /** Resolves to its origin. */
  listen: async (face: Face): Promise<string> => {
    if (face === "bot") return await startBot();
    const log = createLogger({ level: "warn", secrets: [SECRET] });
    const bot = {};
    logFacts(bot, log);
    let inbox = openInbox();
    const clock = systemClock;
    const receiver = new Receiver({
      inbox: { put: (...batch) => inbox.put(...batch) },
      ...{ secrets: [SECRET], laneOf: defaultLane, clock, log, bot },
      ...{ path: "/webhook", maxBodyBytes: 1_048_576, budget: new BodyBudget(33_554_432) },
    });
    close = () => inbox.close();
    wake = () => inbox.nextReadyIn();
    settle = async () => {
      await inbox.close();
      inbox = openInbox();
    };
    if (face === "express") {
      return await listenOnLoopback(createServer(express().use(toExpress(() => receiver))));
    }
    const isReady = () => Promise.resolve(true);
    const report = () => Promise.resolve({ ready: true });
    const server = await listen(
      toNodeListener({
        webhook: receiver,
        health: { isReady, report, apiKey: "none", webhookPath: "/webhook" },
      }),
      "127.0.0.1",
      0,
    );
    return server.url;
  },
  /** Resolves when the lanes know of what has come, which else the next claim would write. */
  wake: (): Promise<unknown> => wake(),
  /**
   * Resolves when everything was handled; where nobody handles it there is a new file, for a backlog that only grows is
   * not what a bot has. What a file costs that grows is a benchmark of its own.
   */
  settle: (): Promise<void> => settle(),
  /** Removes the file. */
  close: async (): Promise<void> => {
    await close();
    folder.remove();
  },
};

export type ReceiverProcess = typeof handlers;

function nextFile(): string {
  files += 1;
  return folder.file(`inbox-${files}.db`);
}

function openInbox(): SqliteInbox {
  return new SqliteInbox({ file: nextFile(), maxBacklog: MAX_BACKLOG });
}

async function startBot(): Promise<string> {
  const bot = makeWebhookBot(nextFile(), "warn");
  bot.on("dm.message", () => Promise.resolve());
  close = () => bot.stop();
  settle = () => bot.idle();
  return await startOnPort(bot);
}

answer(handlers);
