/** The public names of `service-bot/testing`. */

export type { SentByBot } from "./fake-platform.ts";
export { ManualClock } from "./manual-clock.ts";
export {
  type BotUnderTest,
  type DeliverOptions,
  type DeliveryAnswer,
  TestBot,
  type TestBotOptions,
  type TestEvent,
  testBot,
} from "./test-bot.ts";
