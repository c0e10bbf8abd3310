import type { FailpointSetting } from "./failpoints.ts";

/** What the driver decides about a bot under test. It travels in one variable of the environment. */
export interface BotSettings {
  /** Deadline of one request to the platform, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly shutdownGraceMs: number;
  /** How long a lane stays with a process that gives no sign of life, in milliseconds. */
  readonly leaseMs: number;
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  /** New events are refused when less is free on the disk, in bytes. */
  readonly minFreeBytes: number;
  /** How many answers a message gets. */
  readonly answers: number;
  /** Dies here. */
  readonly failpoint?: FailpointSetting | undefined;
  /** Each run of a handler is a line in this file: id, lane, and whether it came late. */
  readonly runsFile?: string | undefined;
  /** What it asks of an inbox in PostgreSQL, and what it is answered, is written down in this file. */
  readonly journalFile?: string | undefined;
  /** How long PostgreSQL may take for an answer, in milliseconds, instead of the usual time. */
  readonly databaseTimeoutMs?: number | undefined;
  /** How far its clock is ahead from the beginning, in milliseconds. */
  readonly clockOffsetMs?: number | undefined;
}

export const SETTINGS_VARIABLE = "BOT_UNDER_TEST";

export const usualSettings: BotSettings = {
  requestTimeoutMs: 400,
  handlerTimeoutMs: 60_000,
  shutdownGraceMs: 5_000,
  leaseMs: 30_000,
  retry: { baseMs: 10, maxMs: 100 },
  // A small disk would count as full from the beginning.
  minFreeBytes: 0,
  answers: 2,
};

export function readSettings(env: NodeJS.ProcessEnv): BotSettings {
  const given: Partial<BotSettings> = JSON.parse(env[SETTINGS_VARIABLE] ?? "{}");
  return { ...usualSettings, ...given };
}

/** What the bot under test tells its driver: one line of JSON on standard output, after this mark. */
export const MARK = "!";

export type BotNote = { readonly ready: string } | { readonly failpoint: string };
