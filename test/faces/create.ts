export { packageName } from "../../src/create/directory.ts";
export { CreateError, inWords, UsageError } from "../../src/create/errors.ts";
export {
  type Io,
  type RunOptions,
  type RunResult,
  run,
  type Terminal,
} from "../../src/create/io.ts";
export { main, type Source } from "../../src/create/main.ts";
export {
  flags,
  help,
  isAttended,
  OLDEST_NODE,
  packageManagers,
  runsBots,
  stores,
  templates,
  UNATTENDED_VARIABLES,
} from "../../src/create/options.ts";
export { packageManagerFacts } from "../../src/create/package-manager.ts";
export { quote, type Result } from "../../src/create/report.ts";
export { needsOf } from "../../src/create/template.ts";
export { writeFiles } from "../../src/create/write.ts";
