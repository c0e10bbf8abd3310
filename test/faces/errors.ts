export {
  ConfigError,
  codeOf,
  type ErrorCode,
  findCause,
  GiveUp,
  hasCode,
  LoopHeld,
  messageOf,
  type PlatformCode,
  RetryLater,
  ServiceBotError,
} from "../../src/errors.ts";
