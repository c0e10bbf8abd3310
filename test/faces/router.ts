export { type Context, createContext } from "../../src/router/context.ts";
export { type HandlerRun, Handling } from "../../src/router/handling.ts";
export { LoopGuard, type LoopGuardOptions } from "../../src/router/loop-guard.ts";
export { OwnAccount } from "../../src/router/own-account.ts";
export { type Handler, type Middleware, Router } from "../../src/router/router.ts";
