/** The public names of `service-bot/testing`: a bot under test, a clock that stands still, a platform in the process. */

export { ManualClock } from "./manual-clock.ts";
export type { RefuseOptions } from "./refusals.ts";
export type { Happening } from "./scene.ts";
export {
  type BotUnderTest,
  type DeliverOptions,
  type DeliveryAnswer,
  TestBot,
  type TestBotOptions,
  type TestEvent,
  testBot,
} from "./test-bot.ts";
export {
  type RecordedCall,
  type SentByBot,
  TestPlatform,
  type TestPlatformOptions,
  type UploadedByBot,
} from "./test-platform.ts";
