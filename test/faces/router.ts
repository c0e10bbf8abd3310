export type { Middleware } from "../../src/router/compose.ts";
export { type Context, createContext, type WriteResult } from "../../src/router/context.ts";
export { LoopGuard } from "../../src/router/loop-guard.ts";
export { OwnAccount } from "../../src/router/own-account.ts";
export { type Handler, Router } from "../../src/router/router.ts";
