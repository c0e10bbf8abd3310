export { Conflicts } from "../../src/dispatcher/conflicts.ts";
export { Dispatcher, type DispatcherOptions } from "../../src/dispatcher/loop.ts";
export { permanentCodes } from "../../src/dispatcher/outcome.ts";
export type { HandlerRun } from "../../src/dispatcher/run.ts";
export { type HandledTypes, TypeLimits } from "../../src/dispatcher/type-limits.ts";
