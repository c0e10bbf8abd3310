/** The public names of `service-bot/testing`. */

export { FakePlatform, type RecordedCall } from "./fake-platform.ts";
export type { Happening, SentByBot } from "./fake-world.ts";
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
