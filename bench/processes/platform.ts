import { setTimeout as pause } from "node:timers/promises";
import { type Platform, type PlatformOptions, startPlatform } from "../../src/platform/index.ts";
import { answer } from "../harness/child.ts";

/** Those that can be said to another process. */
type PlainOptions = Pick<
  PlatformOptions,
  "stateFile" | "retryIntervalMs" | "disableAfter" | "deliveryTimeoutMs"
>;
type Started = Pick<Platform, "url" | "apiKey" | "webhookSecret" | "controlToken">;

let platform: Platform | undefined;

const handlers = {
  /** Starts the local platform, in memory without a file. */
  start: async (options: PlainOptions = {}): Promise<Started> => {
    platform = await startPlatform(options);
    const { url, apiKey, webhookSecret, controlToken } = platform;
    return { url, apiKey, webhookSecret, controlToken };
  },
  /** What is in use after everything that can be freed was freed, in bytes. */
  memory: async (): Promise<{ heap: number; rss: number }> => {
    if (globalThis.gc === undefined) throw new Error("start this process with --expose-gc");
    for (let again = 0; again < 3; again += 1) {
      globalThis.gc();
      await pause(20);
    }
    const { heapUsed, external, rss } = process.memoryUsage();
    return { heap: heapUsed + external, rss };
  },
  /** CPU time used so far by the whole process, in ms. */
  cpu: (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  stop: async (): Promise<void> => {
    await platform?.stop();
  },
};

export type LocalPlatform = typeof handlers;

answer(handlers);
