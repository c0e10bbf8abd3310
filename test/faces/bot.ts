export { inStages } from "../../src/bot/lifecycle.ts";
export { Membership, type MembershipOptions } from "../../src/bot/membership.ts";
export { logWarnings } from "../../src/bot/warnings.ts";
export { Bot } from "../../src/bot.ts";
export {
  type Config,
  type ConfigOverrides,
  defaultBodyBytes,
  loadConfig,
  loadDatabase,
  removedVariables,
  settings,
  variables,
} from "../../src/config.ts";
export { type BotOptions, defaults } from "../../src/options.ts";
