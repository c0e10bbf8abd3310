export { ControlClient } from "../../src/cli/control-client.ts";
export { InputLine } from "../../src/cli/dev/input-line.ts";
export { type KeyCommand, KeyInput } from "../../src/cli/dev/key-input.ts";
export { effectToConfirm, KEYS, perform } from "../../src/cli/dev/keys.ts";
export { logFormatter } from "../../src/cli/dev/log-lines.ts";
export { openInBrowser } from "../../src/cli/dev/open-in-browser.ts";
export { stackLines, tellTimeline, timelineLine } from "../../src/cli/dev/timeline-lines.ts";
export { aboutCertificate } from "../../src/cli/doctor/certificate.ts";
export { examineEnvironment } from "../../src/cli/doctor/environment.ts";
export type { Finding } from "../../src/cli/doctor/finding.ts";
export { aboutBot, isThisMachine, type RunningBot } from "../../src/cli/doctor/running-bot.ts";
export {
  aboutFile,
  aboutInbox,
  aboutInstances,
  aboutServer,
} from "../../src/cli/doctor/storage.ts";
export { copyInbox } from "../../src/cli/inbox/copy.ts";
export { filterIn } from "../../src/cli/inbox/filter.ts";
export { instancesText } from "../../src/cli/inbox/instances.ts";
export { progressLine } from "../../src/cli/inbox/progress.ts";
export { mcp } from "../../src/cli/mcp/mcp.ts";
export { printStyled } from "../../src/cli/output.ts";
export { ownCommand } from "../../src/cli/own-command.ts";
export { hostedMcp } from "../../src/cli/platform/hosted-mcp.ts";
export { mendable } from "../../src/cli/platform/start.ts";
export { commands, run } from "../../src/cli/run.ts";
export { age, cut, moment, printableLines, quoted, table } from "../../src/cli/text.ts";
export { type Awaited, awaitReaction, type Reaction } from "../../src/cli/trigger/reaction.ts";
export { failureOf } from "../../src/cli/trigger/report.ts";
export { type Happened, Watch } from "../../src/cli/trigger/watch.ts";
export { untilSignal } from "../../src/cli/until-signal.ts";
export { readArguments, UsageError } from "../../src/cli/usage.ts";
