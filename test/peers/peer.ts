import type { TestProcess } from "../support/process.ts";
import type { StartOptions } from "./bot-folder.ts";
import type { Changes } from "./changes.ts";

/**
 * The point at which a test kills the bot.
 *
 * - `replying`: the reply has left the bot, but has not reached the platform
 * - `replied`: the platform has accepted the reply, but the bot has no response
 * - `done`: the handler has ended, but the platform has no acknowledgement
 */
export type Moment = "done" | "replied" | "replying";

export interface Author {
  readonly changes: Changes;
  readonly seen: readonly string[];
  readonly posts: readonly string[];
  start(options?: StartOptions): Promise<TestProcess>;
  reaches(moment: Moment): Promise<void>;
  /** Resolves when one of the bot's posts has reached the gate. */
  posting(moment: "replied" | "replying"): Promise<void>;
  say(text: string): Promise<void>;
  /** Repeats deliveries that a bot killed at this point did not acknowledge. */
  redeliver(moment: Moment): Promise<void>;
  settled(): Promise<void>;
}
