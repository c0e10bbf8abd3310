/** The driver's face: bots over a store, a fault, and the check of every invariant. */
export { type Behaviour, poisons } from "../bot/behaviours.ts";
export type { BotSettings } from "../bot/protocol.ts";
export { chooseSeed, Random } from "../random.ts";
export { BotProcess } from "./bot-process.ts";
export { check, checkRuns, type Observed, type Rules } from "./checker.ts";
export { PostgresStore } from "./postgres-store.ts";
export { SqliteStore, type Store } from "./store.ts";
export { World, type WorldOptions } from "./world.ts";
