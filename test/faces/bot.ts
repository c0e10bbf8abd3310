export { Membership, type MembershipOptions } from "../../src/bot/cluster.ts";
export { Bot } from "../../src/bot.ts";
export { warnOfBudget } from "../../src/budget-warning.ts";
export {
  type Config,
  type ConfigOverrides,
  loadConfig,
  loadDatabase,
  settings,
  variables,
} from "../../src/config.ts";
