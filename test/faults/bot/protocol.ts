import { writeSync } from "node:fs";
import type { Failpoint } from "../../promises/failpoints.ts";

/**
 * Settings of a bot under test in addition to its environment variables. One variable carries them as JSON. Times in
 * ms.
 */
export interface BotSettings {
  readonly requestTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly leaseMs: number;
  readonly silenceMs?: number;
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  readonly retention?: { bodiesMs: number; idsMs: number; deadLettersMs: number };
  /** In bytes. The bot refuses new events when the disk has less free space. */
  readonly minFreeBytes: number;
  readonly answers: number;
  readonly failpoint?: {
    readonly at: Failpoint;
    /** Number of the pass that kills, from 1. */
    readonly hit: number;
  };
  /** A cron that comments on a post at each tick. If set, the bot also handles timers. Default: neither. */
  readonly cron?: { readonly pattern: string; readonly postId: string };
  /** File with one line per handler run: id, lane, late. */
  readonly runsFile?: string;
  /** File for the requests to a PostgreSQL inbox and their results. */
  readonly journalFile?: string;
  /** Process id in the journal. Default: the real one, which is the same in every container. */
  readonly journalPid?: number;
  /** Timeout of one PostgreSQL statement. */
  readonly databaseTimeoutMs?: number;
  /** How far the system clock is ahead. */
  readonly clockOffsetMs?: number;
  /** A level below FULL, for the control test of power losses. */
  readonly synchronous?: string;
}

export const SETTINGS_VARIABLE = "BOT_UNDER_TEST";

export const defaultSettings: BotSettings = {
  requestTimeoutMs: 400,
  handlerTimeoutMs: 60_000,
  shutdownGraceMs: 5_000,
  leaseMs: 30_000,
  retry: { baseMs: 10, maxMs: 100 },
  // Otherwise a small disk would count as full from the start.
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
  /** Sockets, timers and requests that keep the event loop alive. */
  readonly handles: number;
  /** 99th percentile of the event loop delay since the last sample. */
  readonly loopP99: number;
  readonly pending: number;
  readonly deadLetters: number;
  readonly mode: string;
}

/** Prefix of a line on stdout that carries a JSON note from the bot. */
export const MARK = "!";

export type BotNote = { readonly ready: string } | { readonly failpoint: string };

/** Writes synchronously because the process may die next. */
export function notifyDriver(note: BotNote): void {
  writeSync(1, `${MARK}${JSON.stringify(note)}\n`);
}

/** Listens to the driver without keeping the process alive. */
export function onOrder(carryOut: (order: Order) => void): void {
  process.on("message", carryOut);
  process.channel?.unref();
}
