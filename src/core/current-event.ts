import { AsyncLocalStorage } from "node:async_hooks";

/** Names the event because of which a bot calls, to a platform on this machine that shows what came of it. */
export const EVENT_HEADER = "x-service-event";

/** The event for which something runs. Connections that outlive the run hold on to it, so it is small. */
export interface CurrentEvent {
  readonly id: string;
  /** The id of its trace. */
  readonly trace: string | undefined;
}

const current = new AsyncLocalStorage<CurrentEvent>();

/** Texts that fit into a header unchanged. */
const PLAIN = /^[\w.:-]{1,100}$/;

/** Runs `work` for an event. Everything that it begins can read which event it is for. */
export function duringEvent<T>({ id, trace }: CurrentEvent, work: () => T): T {
  return current.run({ id, trace }, work);
}

/** The event for which this runs; undefined outside of handlers. */
function currentEvent(): CurrentEvent | undefined {
  return current.getStore();
}

/** The id of the event for which this runs, where it can stand in a header. */
export function headerOfEvent(): string | undefined {
  const id = currentEvent()?.id;
  return id !== undefined && PLAIN.test(id) ? id : undefined;
}

/** The event for which this runs, as fields of a log line. */
export function aboutEvent(): { readonly event?: string; readonly trace?: string | undefined } {
  const event = currentEvent();
  return event === undefined ? {} : { event: event.id, trace: event.trace };
}
