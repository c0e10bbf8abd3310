import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

const TRACE_ID_LENGTH = 32;

/**
 * Creates a trace. The trace is stored with each event and links everything that a delivery causes, even across
 * restarts and instances. It is a W3C trace id (32 hexadecimal digits). With tracing on, it also names the span that
 * stored the event: `<trace id>-<span id>-<flags>`.
 */
export function newTrace(): string {
  traces += 1;
  return processPart + traces.toString(16).padStart(TRACE_ID_LENGTH / 2, "0");
}

/** Half of each trace id is random, and distinguishes processes. The other half is a counter, which costs less. */
const processPart = randomBytes(TRACE_ID_LENGTH / 4).toString("hex");
let traces = 0;

export function traceIdOf(trace: string | undefined): string | undefined {
  return trace?.slice(0, TRACE_ID_LENGTH);
}

/** Context of a parent span. */
export interface SpanAddress {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** Returns the span that a trace names, or `undefined` if the trace is only an id. */
export function spanIn(trace: string | undefined): SpanAddress | undefined {
  const [, traceId, spanId, flags] = /^(\w{32})-(\w{16})-(\w\w)$/.exec(trace ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

export function traceOf({ traceId, spanId, traceFlags }: SpanAddress): string {
  return `${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

export const TRACEPARENT_HEADER = "traceparent";

/** Versions later than 00 may append fields. An id of zeros is invalid. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;

/** Parses a `traceparent` header (W3C Trace Context). Returns `undefined` if it is missing or malformed. */
export function readTraceparent(
  header: string | readonly string[] | undefined,
): string | undefined {
  if (typeof header !== "string") return undefined;
  const [, version, trace, rest] = TRACEPARENT.exec(header.trim()) ?? [];
  return version === "00" && rest !== undefined ? undefined : trace;
}

/** The event being handled. */
export interface CurrentEvent {
  readonly id: string;
  readonly trace: string | undefined;
}

const current = new AsyncLocalStorage<CurrentEvent>();

/** Ids that a header contains unchanged. Other ids are URL-encoded. */
const PLAIN = /^[\w.:-]{1,100}$/;

/**
 * Runs `work`, and everything that it starts, with `event` as the current event. Connections that outlive the work keep
 * the event in memory, so it must be small.
 */
export function duringEvent<T>(event: CurrentEvent, work: () => T): T {
  return current.run(event, work);
}

export function currentEvent(): CurrentEvent | undefined {
  return current.getStore();
}

/** Returns the current event's id as a header's value, or `undefined` if there is no event. */
export function headerOfEvent(): string | undefined {
  const id = current.getStore()?.id;
  return id === undefined || PLAIN.test(id) ? id : encodeURIComponent(id.toWellFormed());
}

/** Returns the current event's log fields, or none outside handlers. */
export function aboutEvent(): { readonly event?: string; readonly trace?: string | undefined } {
  const event = current.getStore();
  return event === undefined ? {} : { event: event.id, trace: event.trace };
}
