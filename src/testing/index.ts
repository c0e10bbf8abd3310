/** Public names of `service-bot/testing`: a bot under test, a manual clock, and an in-process platform. */

export type { DeliverOptions, DeliveryAnswer, TestEvent } from "./delivery.ts";
export type { Exchange } from "./exchange.ts";
export type { FailedRun } from "./failures.ts";
export { ManualClock } from "./manual-clock.ts";
export type { RefuseOptions } from "./refusals.ts";
export type { ActOptions, Happening, TypedAct } from "./scene.ts";
export { type TestBotOptions, type TestOptions, testBot } from "./start.ts";
export type { ScheduledTimer } from "./stored.ts";
export { type BotUnderTest, TestBot } from "./test-bot.ts";
export {
  type RecordedCall,
  type SentByBot,
  TestPlatform,
  type TestPlatformOptions,
  type UploadedByBot,
} from "./test-platform.ts";
