import { BodyBudget } from "../../src/core/body-budget.ts";
import { systemClock } from "../../src/core/clock.ts";
import { listen } from "../../src/core/listen.ts";
import { createLogger } from "../../src/core/logger.ts";
import { defaultLane } from "../../src/events/lane.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { logFacts } from "../../src/observe/log.ts";
import { toNodeListener } from "../../src/receiver/adapters.ts";
import { Receiver } from "../../src/receiver/receive.ts";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";
import { SECRET } from "../support/formats.ts";

const folder = makeFolder();
let files = 0;
const MAX_BACKLOG = 100_000_000;
let inbox = openInbox();

const handlers = {
  listen: async (): Promise<string> => {
    const log = createLogger({ level: "warn", secrets: [SECRET] });
    const bot = {};
    logFacts(bot, log);
    const receiver = new Receiver({
      inbox: { put: (...batch) => inbox.put(...batch) },
      ...{ secrets: [SECRET], laneOf: defaultLane, clock: systemClock, log, bot },
      ...{ path: "/webhook", maxBodyBytes: 1_048_576, budget: new BodyBudget(33_554_432) },
    });
    const isReady = () => Promise.resolve(true);
    const report = () => Promise.resolve({ ready: true });
    const health = { isReady, report, apiKey: "none", webhookPath: "/webhook" };
    const { url } = await listen(toNodeListener({ webhook: receiver, health }), "127.0.0.1", 0);
    return url;
  },
  /** Writes the lanes of new events, which otherwise the next claim would do. */
  finish: (): Promise<unknown> => inbox.nextReadyIn(),
  /** Starts a new file, because in a real bot the backlog does not keep growing. */
  settle: async (): Promise<void> => {
    await inbox.close();
    inbox = openInbox();
  },
  stop: async (): Promise<void> => {
    await inbox.close();
    folder.remove();
  },
};

export type ReceiverProcess = typeof handlers;

function openInbox(): SqliteInbox {
  files += 1;
  return new SqliteInbox({ file: folder.file(`inbox-${files}.db`), maxBacklog: MAX_BACKLOG });
}

answer(handlers);
