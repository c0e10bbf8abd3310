import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SmallPlatform } from "./platform.ts";
import type { Sender } from "./sender.ts";

const BOT = fileURLToPath(new URL("./bot.ts", import.meta.url));

export interface LifeOptions {
  /** The folder of the inbox. */
  readonly folder: string;
  readonly journal: string;
  /** The library that keeps the journal. */
  readonly shim: string;
  readonly secret: string;
  readonly platform: SmallPlatform;
  /** How many replies are waited for before the last process is stopped. */
  readonly replies: number;
  /** What SQLite is set to instead of FULL. */
  readonly synchronous?: string;
}

/** The signal that ends the process once so many answers have come. */
export interface End {
  readonly signal: NodeJS.Signals;
  readonly after: number;
}

/** A process that takes longer than this, in milliseconds, hangs. */
const LONGEST_LIFE_MS = 60_000;

/**
 * One process of the bot, from its start to its end: it takes deliveries from `sender` until it is
 * ended in the middle of them; without `end`, until there are no more and enough were replied to, and
 * then it is stopped.
 */
export async function live(sender: Sender, options: LifeOptions, end?: End): Promise<void> {
  const child = start(options);
  const exited = once(child, "exit");
  const deadline = setTimeout(() => child.kill("SIGKILL"), LONGEST_LIFE_MS);
  try {
    const url = await readyAt(child);
    await sender.send(url, end?.after, () => child.kill(end?.signal));
    if (end === undefined) {
      await Promise.race([options.platform.replies(options.replies), exited]);
      child.kill("SIGTERM");
    }
    await exited;
  } finally {
    clearTimeout(deadline);
    child.kill("SIGKILL");
  }
}

function start({
  folder,
  journal,
  shim,
  secret,
  platform,
  synchronous,
}: LifeOptions): ChildProcess {
  return spawn(process.execPath, [BOT], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...(process.env["PATH"] === undefined ? {} : { PATH: process.env["PATH"] }),
      LD_PRELOAD: shim,
      JOURNAL_FOLDER: folder,
      JOURNAL_FILE: journal,
      // Through io_uring the kernel would be told past the library.
      UV_USE_IO_URING: "0",
      SERVICE_BASE_URL: platform.url,
      SERVICE_API_KEY: "not-used",
      SERVICE_WEBHOOK_SECRET: secret,
      DELIVERY: "webhook",
      DATABASE_URL: `file:${folder}/bot.db`,
      HOST: "127.0.0.1",
      PORT: "0",
      ...(synchronous === undefined ? {} : { SYNCHRONOUS: synchronous }),
    },
  });
}

function readyAt(child: ChildProcess): Promise<string> {
  const { stdout } = child;
  if (stdout === null) throw new Error("the bot has no standard output");
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("the bot ended before it was ready")));
    createInterface({ input: stdout }).on("line", (line) => {
      const { msg, webhook }: { msg?: string; webhook?: string } = JSON.parse(line);
      if (msg === "ready" && webhook !== undefined) resolve(webhook);
    });
  });
}
