export { ownCommand, readArguments, UsageError, untilSignal } from "../../src/cli/command.ts";
export { controlClient } from "../../src/cli/control.ts";
export { KEYS, Keyboard, openInBrowser } from "../../src/cli/dev/keys.ts";
export {
  logFormatter,
  printTimeline,
  stackLines,
  timelineLine,
} from "../../src/cli/dev/lines.ts";
export { WaitingRetries } from "../../src/cli/dev/waiting-retries.ts";
export { isThisMachine } from "../../src/cli/doctor/bot.ts";
export { aboutBot } from "../../src/cli/doctor/bot-status.ts";
export { checkEnvironment } from "../../src/cli/doctor/environment.ts";
export { type Finding, findingLines } from "../../src/cli/doctor/finding.ts";
export {
  aboutDisk,
  aboutFile,
  aboutInbox,
  aboutInstances,
  aboutServer,
} from "../../src/cli/doctor/inbox.ts";
export { copyInbox } from "../../src/cli/inbox/copy.ts";
export { filterIn } from "../../src/cli/inbox/filter.ts";
export { instancesText } from "../../src/cli/inbox/stats.ts";
export { toFlagProblem } from "../../src/cli/local-platform.ts";
export {
  age,
  cut,
  moment,
  printableLines,
  printStyled,
  progressOn,
  quoted,
  table,
} from "../../src/cli/output.ts";
export { codeInError, remedies, remedyFor } from "../../src/cli/remedies.ts";
export { commands, run } from "../../src/cli/run.ts";
export { failureOf } from "../../src/cli/trigger/trigger.ts";
export {
  awaitReaction,
  type Reaction,
  type WaitInput,
} from "../../src/cli/trigger/wait.ts";
