import { randomBytes } from "node:crypto";

/**
 * Joins everything that a delivery has led to, from its arrival to the reply, over restarts and instances: a
 * *trace* is stored with each event. It is the id of a W3C trace (32 hexadecimal digits) alone, or, where somebody
 * traces, with the span that stored it and its flags: `<trace id>-<span id>-<flags>`.
 */

const TRACE_ID_LENGTH = 32;

/** Makes a trace for what came without one. */
export function newTrace(): string {
  return randomBytes(TRACE_ID_LENGTH / 2).toString("hex");
}

/** Its id, as the log has it. */
export function traceIdOf(trace: string | undefined): string | undefined {
  return trace?.slice(0, TRACE_ID_LENGTH);
}

/** A span, as others can be put below it. */
export interface SpanAddress {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** The span that a trace names; undefined where it is an id alone. */
export function spanIn(trace: string | undefined): SpanAddress | undefined {
  const [, traceId, spanId, flags] = /^(\w{32})-(\w{16})-(\w\w)$/.exec(trace ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** The trace that names a span. */
export function traceOf({ traceId, spanId, traceFlags }: SpanAddress): string {
  return `${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

export const TRACEPARENT_HEADER = "traceparent";

/** Version 00. Later versions append to it. An id of zeros is none. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;

/** The trace that a `traceparent` header (W3C Trace Context) names; undefined where there is none, or it is malformed. */
export function readTraceparent(
  header: string | readonly string[] | undefined,
): string | undefined {
  if (typeof header !== "string") return undefined;
  const [, version, trace, rest] = TRACEPARENT.exec(header.trim()) ?? [];
  return version === "00" && rest !== undefined ? undefined : trace;
}
