import type { TestProcess } from "../../support/process.ts";
import type { StartOptions } from "./bot-folder.ts";
import type { Changes } from "./changes.ts";

/**
 * The moment at which a test kills the bot.
 *
 * - `replying`: the reply has left the bot, but has not reached the platform
 * - `replied`: the platform has accepted the reply, but the bot has no response
 * - `done`: the handler has ended, but the platform has no acknowledgement
 */
export type Moment = "done" | "replied" | "replying";

/** A bot of a framework with a fake of its platform. */
export interface Author {
  /** Changes of the platform's state. */
  readonly changes: Changes;
  readonly seen: readonly string[];
  readonly posts: readonly string[];
  /** Starts another process of the bot. Resolves when it accepts events. */
  start(options?: StartOptions): Promise<TestProcess>;
  /** Resolves when the bot reaches this moment of the next message. */
  reaches(moment: Moment): Promise<void>;
  /** Resolves when a post of the bot has reached the gate. */
  posting(moment: "replied" | "replying"): Promise<void>;
  say(text: string): Promise<void>;
  /** Repeats deliveries that a bot killed at this moment has not acknowledged. */
  redeliver(moment: Moment): Promise<void>;
  /** Resolves when the bot has handled Ada's messages. */
  settled(): Promise<void>;
}
