import { onTestFinished } from "vitest";
import type { Logger } from "../faces/core.ts";
import { type ChannelMessages, type Listeners, logFacts, subscribe } from "../faces/observe.ts";

/** Returns an object that channels accept as a bot. Its events are logged until the test ends. */
export function loggedSender(log: Logger): object {
  const bot = {};
  onTestFinished(logFacts(bot, log));
  return bot;
}

export function listenTo(bot: object, listeners: Listeners): void {
  onTestFinished(subscribe(bot, listeners));
}

export function runMessage(
  bot: object,
  more: Partial<ChannelMessages["run"]> = {},
): ChannelMessages["run"] {
  const event = { event: "evt_1", type: "follow", lane: "user:ada", attempt: 1, trace: undefined };
  return { bot, ...event, outcome: "done", ms: 1, ...more };
}
