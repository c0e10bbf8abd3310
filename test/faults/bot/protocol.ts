import { writeSync } from "node:fs";
import type { Failpoint } from "../../promises/failpoints.ts";

/**
 * Settings of a bot under test that are not environment variables. One variable carries them as JSON. Times are in ms.
 */
export interface BotSettings {
  readonly requestTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly leaseMs: number;
  readonly silenceMs?: number;
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  readonly retention?: { bodiesMs: number; idsMs: number; deadLettersMs: number };
  /** Minimum free disk space, in bytes. Below it, the bot refuses new events. */
  readonly minFreeBytes: number;
  readonly answers: number;
  readonly failpoint?: {
    readonly at: Failpoint;
    /** Which pass through the failpoint kills the process, counted from 1. */
    readonly hit: number;
  };
  /** Adds a cron that comments on a post at each tick, and a handler for timers. Default: neither. */
  readonly cron?: { readonly pattern: string; readonly postId: string };
  /** File that gets one line per handler run: id, lane, late. */
  readonly runsFile?: string;
  /** File that records every call to a PostgreSQL inbox and its result. */
  readonly journalFile?: string;
  /** Process id for the journal. In a container every bot has the same real id. Default: the real id. */
  readonly journalPid?: number;
  /** Timeout of one PostgreSQL statement, in ms. */
  readonly databaseTimeoutMs?: number;
  /** How far the system clock is ahead, in ms. */
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
  // Without this setting, a small disk would count as full from the start.
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
  /** Number of sockets, timers and requests that keep the event loop alive. */
  readonly handles: number;
  /** 99th percentile of the event loop delay since the last sample, in ms. */
  readonly loopP99: number;
  readonly pending: number;
  readonly deadLetters: number;
  readonly mode: string;
}

/** Prefix of a stdout line that carries a JSON note from the bot. */
export const MARK = "!";

export type BotNote = { readonly ready: string } | { readonly failpoint: string };

/** Synchronous, because the process may die immediately afterwards. */
export function notifyDriver(note: BotNote): void {
  writeSync(1, `${MARK}${JSON.stringify(note)}\n`);
}

/** Receives the driver's messages without keeping the process alive. */
export function onOrder(carryOut: (order: Order) => void): void {
  process.on("message", carryOut);
  process.channel?.unref();
}
