import { AsyncLocalStorage } from "node:async_hooks";

/** Names the event because of which a bot calls, to a platform on this machine that shows what came of it. */
export const EVENT_HEADER = "x-service-event";

const current = new AsyncLocalStorage<string>();

/** What can stand in a header as it is. */
const PLAIN = /^[\w.:-]{1,100}$/;

/** Runs `work` for an event: all that it begins can ask for which. */
export function duringEvent<T>(id: string, work: () => T): T {
  return PLAIN.test(id) ? current.run(id, work) : work();
}

/** The id of the event for which this runs; undefined outside of handlers. */
export function currentEvent(): string | undefined {
  return current.getStore();
}
