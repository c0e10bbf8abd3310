export { type Beginning, canMatch, knownBeginning } from "../../src/router/beginning.ts";
export { BoundedPattern } from "../../src/router/bounded-pattern.ts";
export type { Context, WriteResult } from "../../src/router/context.ts";
export type {
  CronContext,
  Handler,
  Middleware,
  Next,
  TimerContext,
  WithState,
} from "../../src/router/handler.ts";
export { type EventHandling, Handlers } from "../../src/router/handling.ts";
export { LoopGuard, type LoopGuardOptions } from "../../src/router/loop-guard.ts";
export {
  type CommandContext,
  commandPattern,
  type HearsContext,
  hearsPattern,
  type TextPattern,
  withoutName,
} from "../../src/router/matching.ts";
export { OwnAccount } from "../../src/router/own-account.ts";
export { ContextTasks, contextCall, PendingTasks } from "../../src/router/pending-tasks.ts";
export { type Bound, costOf, longestText } from "../../src/router/regexp/cost.ts";
export { Router, routesOf } from "../../src/router/router.ts";
export { createContext } from "../../src/router/run-context.ts";
