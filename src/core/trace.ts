import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";

const TRACE_ID_LENGTH = 32;

/**
 * Makes a trace, which is stored with each event and joins everything that a delivery leads to, over restarts and
 * instances. It is the id of a W3C trace (32 hexadecimal digits) alone, or, for a bot that traces, with the span that
 * stored the event and its flags: `<trace id>-<span id>-<flags>`.
 */
export function newTrace(): string {
  // Node draws the randomness of 128 UUIDs at once; `randomBytes` would be a system call for each trace.
  return randomUUID().replaceAll("-", "");
}

/** Returns the id of a trace, as the log has it. */
export function traceIdOf(trace: string | undefined): string | undefined {
  return trace?.slice(0, TRACE_ID_LENGTH);
}

/** A span, as others can be put below it. */
export interface SpanAddress {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** Returns the span that a trace names; `undefined` if it is an id alone. */
export function spanIn(trace: string | undefined): SpanAddress | undefined {
  const [, traceId, spanId, flags] = /^(\w{32})-(\w{16})-(\w\w)$/.exec(trace ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** Returns the trace that names a span. */
export function traceOf({ traceId, spanId, traceFlags }: SpanAddress): string {
  return `${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

export const TRACEPARENT_HEADER = "traceparent";

/** Version 00, to which later versions append. An id of zeros is invalid. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;

/** Reads a `traceparent` header (W3C Trace Context); `undefined` if it is missing or malformed. */
export function readTraceparent(
  header: string | readonly string[] | undefined,
): string | undefined {
  if (typeof header !== "string") return undefined;
  const [, version, trace, rest] = TRACEPARENT.exec(header.trim()) ?? [];
  return version === "00" && rest !== undefined ? undefined : trace;
}

/** The event for which something runs. Small, because connections that outlive the run keep it alive. */
export interface CurrentEvent {
  readonly id: string;
  /** The id of its trace. */
  readonly trace: string | undefined;
}

const current = new AsyncLocalStorage<CurrentEvent>();

/** Texts that fit into a header unchanged. */
const PLAIN = /^[\w.:-]{1,100}$/;

/** Runs `work` for an event. Everything that `work` begins can read which event it is for. */
export function duringEvent<T>({ id, trace }: CurrentEvent, work: () => T): T {
  return current.run({ id, trace }, work);
}

/** Returns the id of the event for which this runs, if it can stand in a header. */
export function headerOfEvent(): string | undefined {
  const id = current.getStore()?.id;
  return id !== undefined && PLAIN.test(id) ? id : undefined;
}

/** Returns the event for which this runs, as fields of a log line; empty outside of handlers. */
export function aboutEvent(): { readonly event?: string; readonly trace?: string | undefined } {
  const event = current.getStore();
  return event === undefined ? {} : { event: event.id, trace: event.trace };
}
