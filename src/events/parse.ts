import { parseJson } from "../core/json.ts";
import * as z from "../core/zod.ts";
import { idText } from "./id.ts";
import { PayloadProblem, payloadReaders } from "./payloads.ts";
import type { AnyEvent, EventType, KnownEvent, UnknownEvent } from "./types.ts";

/** The result of reading one element of `events`. */
export type ParsedEvent =
  | { readonly ok: true; readonly known: true; readonly event: KnownEvent }
  | { readonly ok: true; readonly known: false; readonly event: UnknownEvent }
  | {
      readonly ok: false;
      /** Where they could be read. */
      readonly id: string | undefined;
      readonly type: string | undefined;
      /** Why the event cannot be handled, by path; never a value from the event. */
      readonly reason: string;
    };

const required = z.string().min(1);

const LONE_SURROGATE = "holds half a character (a lone surrogate)";

const envelope = z.looseObject({
  // The store keeps UTF-8, in which all halves of characters are the same: events would pass for others.
  id: z.preprocess(
    (value) => idText(value) ?? value,
    required.refine((text) => text.isWellFormed(), LONE_SURROGATE),
  ),
  type: required,
  payload: z.looseObject({}),
  createdAt: z.string().catch(""),
});

/** The event types that this version knows, in the order of section 6 of the platform document. */
export const eventTypes: readonly EventType[] = Object.keys(payloadReaders) as EventType[];

/** True for a type that this version knows. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(payloadReaders, type);
}

/**
 * Reads one event as it came over the wire (sections 2 and 6 of the platform document).
 * New fields pass through, new types come out as unknown events; it never throws.
 */
export function parseEvent(raw: unknown): ParsedEvent {
  const head = envelope.safeParse(raw);
  if (!head.success) return unusable(raw, reasonOf(head.error));
  const { type, payload } = head.data;
  if (!isEventType(type)) return { ok: true, known: false, event: head.data };
  const read = payloadReaders[type](payload);
  if (read instanceof PayloadProblem) return unusable(raw, read.text);
  // The table of readers pairs each type with its payload; the compiler cannot follow the lookup.
  return { ok: true, known: true, event: { ...head.data, payload: read } as KnownEvent };
}

/** Reads one event from JSON text, such as the inbox stores; it never throws. */
export function parseEventText(text: string): ParsedEvent {
  let raw: unknown;
  try {
    raw = parseJson(text);
  } catch {
    return { ok: false, id: undefined, type: undefined, reason: "it is not JSON" };
  }
  return parseEvent(raw);
}

/** What people wrote in an event: no log, error or dead letter may show it. */
export function textsOf(event: AnyEvent): string[] {
  const excerpt = "excerpt" in event.payload ? event.payload.excerpt : undefined;
  return typeof excerpt === "string" ? [excerpt] : [];
}

function reasonOf(error: z.ZodError): string {
  const issues = error.issues.map(({ path, message }) =>
    path.length === 0 ? "the event must be an object" : `${path.join(".")}: ${message}`,
  );
  return issues.join("; ");
}

function unusable(raw: unknown, reason: string): ParsedEvent {
  const id = idText(own(raw, "id"));
  const type = own(raw, "type");
  return {
    ok: false,
    id: id?.isWellFormed() ? id : undefined,
    type: typeof type === "string" && type !== "" ? type : undefined,
    reason,
  };
}

function own(raw: unknown, key: string): unknown {
  if (typeof raw !== "object" || raw === null || !Object.hasOwn(raw, key)) return undefined;
  return (raw as Record<string, unknown>)[key];
}
