import { join } from "node:path";
import { Child } from "../../bench/harness/child.ts";
import type { LocalPlatform } from "../../bench/processes/platform.ts";
import { ControlClient } from "../faces/cli.ts";
import type { SoakBot } from "./bot.ts";
import type { Reader } from "./reader.ts";

/** The processes of a run, and the file that it is about. */
export interface Stage {
  readonly control: ControlClient;
  readonly bot: Child<SoakBot>;
  readonly botPid: number;
  readonly reader: Child<Reader>;
  readonly databaseFile: string;
  close(): Promise<void>;
}

/**
 * How long what has ended is kept: shorter than by default, so that the file is swept several times within the run. Ids
 * outlive the longest time that the webhook is off.
 */
const RETENTION = { bodiesMs: 5 * 60_000, idsMs: 15 * 60_000, deadLettersMs: 30 * 60_000 };

const PLATFORM = { retryIntervalMs: 1_000, disableAfter: 1_000_000, deliveryTimeoutMs: 5_000 };

/** A bot that runs, and a platform that delivers to it; each is a process of its own, and so is a reader. */
export async function openStage(folder: string): Promise<Stage> {
  const databaseFile = join(folder, "bot.db");
  const platform = new Child<LocalPlatform>("processes/platform.ts");
  const bot = new Child<SoakBot>("../test/soak/bot.ts");
  const reader = new Child<Reader>("../test/soak/reader.ts");
  const stopAll = () => Promise.allSettled([bot.stop(), reader.stop(), platform.stop()]);
  try {
    const stateFile = join(folder, "platform.db");
    const started = await platform.call("start", { ...PLATFORM, stateFile });
    const { url: baseUrl, controlToken, ...secrets } = started;
    const { url, pid: botPid } = await bot.call("start", {
      ...{ baseUrl, ...secrets, databaseUrl: `file:${databaseFile}`, retention: RETENTION },
      logFile: join(folder, "bot.log"),
    });
    const control = new ControlClient(baseUrl, { controlToken });
    await control.saveWebhook({ url: `${url}/webhook`, enabled: true });
    const close = async () => {
      await stopAll();
    };
    return { control, bot, botPid, reader, databaseFile, close };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
