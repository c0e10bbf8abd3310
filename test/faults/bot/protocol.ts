import { writeSync } from "node:fs";
import type { Failpoint } from "../../support/world/failpoints.ts";

/** Settings of the bot under test, passed as JSON in one environment variable. Times are in ms. */
export interface BotSettings {
  readonly requestTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly leaseMs: number;
  readonly silenceMs?: number;
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  readonly retention?: { bodiesMs: number; idsMs: number; deadLettersMs: number };
  /** The bot refuses new events when less disk space than this is free, in bytes. */
  readonly minFreeBytes: number;
  readonly answers: number;
  readonly failpoint?: {
    readonly at: Failpoint;
    /** The process is killed on its n-th pass through the failpoint, starting at 1. */
    readonly hit: number;
  };
  /** Adds a timer handler, and a cron job that comments on a post at each tick. Default: neither. */
  readonly cron?: { readonly pattern: string; readonly postId: string };
  /** File to which each handler run appends one line: event id, lane, late. */
  readonly runsFile?: string;
  readonly journalFile?: string;
  /** Process id to write into the journal. Default: the real id, which is the same for every bot in a container. */
  readonly journalPid?: number;
  readonly databaseTimeoutMs?: number;
  /** How far the process's clock is ahead of the system's, in ms. */
  readonly clockOffsetMs?: number;
  /** SQLite sync level below FULL, for the control test of power losses. */
  readonly synchronous?: string;
}

export const SETTINGS_VARIABLE = "BOT_UNDER_TEST";

export const defaultSettings: BotSettings = {
  requestTimeoutMs: 400,
  handlerTimeoutMs: 60_000,
  shutdownGraceMs: 5_000,
  leaseMs: 30_000,
  retry: { baseMs: 10, maxMs: 100 },
  // With the default, a small disk would count as full from the start.
  minFreeBytes: 0,
  answers: 2,
};

export interface Order {
  readonly disk?: "full" | "free";
  readonly clockOffsetMs?: number;
  readonly sample?: true;
}

export interface BotSample {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Number of sockets, timers and requests keeping the event loop alive. */
  readonly handles: number;
  /** 99th percentile of the event loop delay since the previous sample, in ms. */
  readonly loopP99: number;
  readonly pending: number;
  readonly deadLetters: number;
  readonly mode: string;
}

export const MARK = "!";

export type BotNote = { readonly ready: string } | { readonly failpoint: string };

/** Writes synchronously, because the process may die right afterwards. */
export function notifyDriver(note: BotNote): void {
  writeSync(1, `${MARK}${JSON.stringify(note)}\n`);
}

/** Listens without keeping the process alive. */
export function onOrder(carryOut: (order: Order) => void): void {
  process.on("message", carryOut);
  process.channel?.unref();
}
