export { isAttended } from "../../src/create/attended.ts";
export {
  OLDEST_NODE,
  packageManagers,
  runsBots,
  stores,
  templates,
} from "../../src/create/choices.ts";
export { CreateError, UsageError } from "../../src/create/errors.ts";
export { help } from "../../src/create/help.ts";
export type { Io } from "../../src/create/io.ts";
export { main, type Source } from "../../src/create/main.ts";
export { packageName } from "../../src/create/name.ts";
export { flags } from "../../src/create/options.ts";
export { lockFile } from "../../src/create/package-manager.ts";
export { printableText } from "../../src/create/printable.ts";
export type { Result } from "../../src/create/result.ts";
export { type RunOptions, type RunResult, run, tail } from "../../src/create/run.ts";
export { quote } from "../../src/create/shell.ts";
export { needsOf } from "../../src/create/store.ts";
export { inWords } from "../../src/create/system-error.ts";
export type { Terminal } from "../../src/create/terminal.ts";
export { toolchainOf } from "../../src/create/toolchain.ts";
export { writeFiles } from "../../src/create/write.ts";
