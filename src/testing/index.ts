/** The public names of `service-bot/testing`: a bot under test, a clock that stands still, a platform in memory. */

export type { Happening } from "./fake-log.ts";
export { FakePlatform, type RecordedCall } from "./fake-platform.ts";
export type { RefuseOptions } from "./fake-refusals.ts";
export type { UploadedByBot } from "./fake-uploads.ts";
export type { SentByBot } from "./fake-world.ts";
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
