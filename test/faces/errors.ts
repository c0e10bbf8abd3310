export {
  ConfigError,
  type ErrorCode,
  GiveUp,
  hasCode,
  LoopHeld,
  messageOf,
  type PlatformCode,
  RetryLater,
  ServiceBotError,
} from "../../src/errors.ts";
