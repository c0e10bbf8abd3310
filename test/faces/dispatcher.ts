export { Dispatcher, type DispatcherOptions } from "../../src/dispatcher/dispatcher.ts";
export { permanence } from "../../src/dispatcher/permanence.ts";
export type { EventJob, JobHandler } from "../../src/dispatcher/run.ts";
export { TypePlaces } from "../../src/dispatcher/type-places.ts";
