import * as z from "../core/zod.ts";
import type {
  ActivityPayload,
  AnyEvent,
  DmMessagePayload,
  EventType,
  FollowPayload,
  KnownEvent,
  PayloadByType,
  UnknownEvent,
} from "./types.ts";

/** What came of reading one element of `events`. */
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

const text = z.string();
const idText = z.string().min(1);
// Absent, null and "" all mean that there is no text to show.
const optionalText = z.preprocess((value) => value ?? undefined, text.optional());

const actor = z.looseObject({ username: text, name: text });
const follow: z.ZodType<FollowPayload> = z.looseObject({
  actor,
  entityType: text,
  entityId: text,
});
const activity: z.ZodType<ActivityPayload> = z.looseObject({
  actor,
  entityType: text,
  entityId: text,
  excerpt: optionalText,
  postId: optionalText,
  commentId: optionalText,
});
const dmMessage: z.ZodType<DmMessagePayload> = z.looseObject({
  conversationId: idText,
  from: z.looseObject({ userId: text, username: text, name: text }),
  excerpt: z.preprocess((value) => value ?? "", text),
});

const payloads: { readonly [T in EventType]: z.ZodType<PayloadByType[T]> } = {
  "dm.message": dmMessage,
  mention: activity,
  comment: activity,
  reply: activity,
  follow,
  like: activity,
  repost: activity,
  quote: activity,
};

const LONE_SURROGATE = "holds half a character (a lone surrogate)";

const envelope = z.looseObject({
  // The store keeps UTF-8, in which all halves of characters are the same: events would pass for others.
  id: idText.refine((id) => id.isWellFormed(), LONE_SURROGATE),
  type: idText,
  payload: z.looseObject({}),
  createdAt: z.string().catch(""),
});

/** The event types that this version knows, in the order of section 6 of the platform document. */
export const eventTypes: readonly EventType[] = Object.keys(payloads) as EventType[];

/** True for a type that this version knows. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(payloads, type);
}

/**
 * Reads one event as it came over the wire (sections 2 and 6 of the platform document).
 * New fields pass through, new types come out as unknown events; it never throws.
 */
export function parseEvent(raw: unknown): ParsedEvent {
  const head = envelope.safeParse(raw);
  if (!head.success) return unusable(raw, head.error);
  const { type, payload } = head.data;
  if (!isEventType(type)) return { ok: true, known: false, event: head.data };
  const body = payloads[type].safeParse(payload);
  if (!body.success) return unusable(raw, body.error, "payload");
  // The table above pairs each type with its payload; the compiler cannot follow the lookup.
  return { ok: true, known: true, event: { ...head.data, payload: body.data } as KnownEvent };
}

/** Reads one event from JSON text, such as the inbox stores; it never throws. */
export function parseEventText(text: string): ParsedEvent {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
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

function unusable(raw: unknown, error: z.ZodError, under?: string): ParsedEvent {
  const issues = error.issues.map((issue) => {
    const path = [...(under === undefined ? [] : [under]), ...issue.path].join(".");
    return path === "" ? "the event must be an object" : `${path}: ${issue.message}`;
  });
  const id = own(raw, "id");
  return {
    ok: false,
    id: id?.isWellFormed() ? id : undefined,
    type: own(raw, "type"),
    reason: issues.join("; "),
  };
}

function own(raw: unknown, key: string): string | undefined {
  if (typeof raw !== "object" || raw === null || !Object.hasOwn(raw, key)) return undefined;
  const value = (raw as Record<string, unknown>)[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}
