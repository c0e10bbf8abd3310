export { type HandledTypes, TypeLimits } from "../../src/dispatcher/active-lanes.ts";
export { Conflicts } from "../../src/dispatcher/conflicts.ts";
export { Dispatcher, type DispatcherOptions } from "../../src/dispatcher/loop.ts";
export {
  EndedRun,
  type OutcomeOptions,
  permanentCodes,
  recordOutcome,
} from "../../src/dispatcher/outcome.ts";
export type { HandlerRun } from "../../src/dispatcher/run.ts";
