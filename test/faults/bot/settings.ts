import type { FailpointSetting } from "./failpoints.ts";

/** What the driver decides about a bot under test. It travels in one variable of the environment. */
export interface BotSettings {
  /** Deadline of one request to the platform, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  /** New events are refused when less is free on the disk, in bytes. */
  readonly minFreeBytes: number;
  /** How many answers a message gets. */
  readonly answers: number;
  /** Dies here. */
  readonly failpoint?: FailpointSetting | undefined;
  /** Each run of a handler is a line in this file: id, lane, and whether it came late. */
  readonly runsFile?: string | undefined;
}

export const SETTINGS_VARIABLE = "BOT_UNDER_TEST";

export const usualSettings: BotSettings = {
  requestTimeoutMs: 400,
  handlerTimeoutMs: 60_000,
  shutdownGraceMs: 5_000,
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
