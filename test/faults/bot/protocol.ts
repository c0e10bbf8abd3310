import { writeSync } from "node:fs";
import type { Failpoint } from "../../promises/failpoints.ts";

/** Settings of a bot under test beyond its environment. They travel as JSON in one variable. Times in ms. */
export interface BotSettings {
  /** Deadline of one request to the platform. */
  readonly requestTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly leaseMs: number;
  readonly silenceMs?: number;
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  readonly retention?: { bodiesMs: number; idsMs: number; deadLettersMs: number };
  /** In bytes. New events are refused when less is free on the disk. */
  readonly minFreeBytes: number;
  /** Answers per message. */
  readonly answers: number;
  /** The place at which the bot kills itself. */
  readonly failpoint?: {
    readonly at: Failpoint;
    /** Counts the passes, from 1 up. */
    readonly hit: number;
  };
  /** A cron that comments on a post at each moment. The bot has timers, too. Default neither. */
  readonly cron?: { readonly pattern: string; readonly postId: string };
  /** File for one line per handler run: id, lane, late. */
  readonly runsFile?: string;
  /** File for the requests to an inbox in PostgreSQL and their results. */
  readonly journalFile?: string;
  /** The process in the journal. Default its id, which is the same in every container. */
  readonly journalPid?: number;
  /** Deadline of one statement in PostgreSQL. */
  readonly databaseTimeoutMs?: number;
  /** How far the system clock is ahead. */
  readonly clockOffsetMs?: number;
  /** A level below FULL, for the control of the power loss. */
  readonly synchronous?: string;
}

export const SETTINGS_VARIABLE = "BOT_UNDER_TEST";

export const defaultSettings: BotSettings = {
  requestTimeoutMs: 400,
  handlerTimeoutMs: 60_000,
  shutdownGraceMs: 5_000,
  leaseMs: 30_000,
  retry: { baseMs: 10, maxMs: 100 },
  // A small disk would count as full from the beginning.
  minFreeBytes: 0,
  answers: 2,
};

/** A request of the driver to a running bot. */
export interface Order {
  readonly disk?: "full" | "free";
  readonly clockOffsetMs?: number;
  readonly sample?: true;
}

/** State of the process. Sizes in bytes, times in ms. */
export interface BotSample {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Sockets, timers and requests that keep the event loop busy. */
  readonly handles: number;
  /** Delay of the event loop since the last sample, 99th percentile. */
  readonly loopP99: number;
  readonly pending: number;
  readonly deadLetters: number;
  readonly mode: string;
}

/** A note from the bot: one line of JSON on standard output, after this mark. */
export const MARK = "!";

export type BotNote = { readonly ready: string } | { readonly failpoint: string };

/** Writes synchronously, because the process may die right after. */
export function notifyDriver(note: BotNote): void {
  writeSync(1, `${MARK}${JSON.stringify(note)}\n`);
}

/** Listens to the driver without keeping the process alive. */
export function onOrder(carryOut: (order: Order) => void): void {
  process.on("message", carryOut);
  process.channel?.unref();
}
