import type { TestProcess } from "../../support/process.ts";
import type { StartOptions } from "./bot-folder.ts";
import type { Changes } from "./changes.ts";

/**
 * A moment of a run, at which the bot is killed.
 *
 * - `replying`: the reply has left the bot, the platform has not taken it
 * - `replied`: the platform has taken the reply, the bot does not know
 * - `done`: the handler has ended, the platform does not know that the bot has the event
 */
export type Moment = "done" | "replied" | "replying";

/** A bot of a framework with a platform that behaves as its own does. */
export interface Author {
  /** Publishes what the platform receives. */
  readonly changes: Changes;
  /** The texts that Ada has got from the bot. */
  readonly seen: readonly string[];
  /** The posts in the channel. */
  readonly posts: readonly string[];
  /** Starts one more process of the bot. Resolves when it takes events. */
  start(options?: StartOptions): Promise<TestProcess>;
  /** Resolves when the bot comes to that moment of the next message. */
  reaches(moment: Moment): Promise<void>;
  /** Resolves when a post of the bot has come to the gate. */
  posting(moment: "replied" | "replying"): Promise<void>;
  /** Writes to the bot in Ada's name. */
  say(text: string): Promise<void>;
  /** Delivers again what a bot killed at that moment has not acknowledged. */
  redeliver(moment: Moment): Promise<void>;
  /** Resolves when the bot has dealt with everything that Ada wrote. */
  settled(): Promise<void>;
}
