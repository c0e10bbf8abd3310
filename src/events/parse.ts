import { parseJson, textsIn } from "../core/json.ts";
import { REDACTED, scrubber } from "../core/safe-text.ts";
import { ServiceBotError, tryRead } from "../errors.ts";
import { idText } from "./id.ts";
import { isOwn } from "./own.ts";
import type {
  ActivityPayload,
  Actor,
  AnyEvent,
  DmMessagePayload,
  EventType,
  FollowPayload,
  PayloadByType,
  Sender,
} from "./types.ts";

export type ParsedEvent =
  | { readonly ok: true; readonly event: AnyEvent }
  | {
      readonly ok: false;
      /** `undefined` if unreadable. */
      readonly id: string | undefined;
      /** `undefined` if unreadable. */
      readonly type: string | undefined;
      /** Reason why the event cannot be handled, as `path: problem`. Never contains a value from the event. */
      readonly reason: string;
    };

/**
 * Checks an event from the platform or the inbox (sections 2 and 6 of the platform document). New fields pass through,
 * and new types become unknown events. Never throws.
 */
export function parseEvent(raw: unknown): ParsedEvent {
  // The spread copies own properties only.
  const fields = isFields(raw) ? { ...raw } : undefined;
  const id = readId(fields?.["id"]);
  const type = readType(fields?.["type"]);
  const refuse = (reason: string): ParsedEvent => ({ ok: false, id, type, reason });
  if (fields === undefined) return refuse("the event must be an object");
  const { payload, createdAt } = fields;
  if (id === undefined || type === undefined || !isFields(payload)) {
    const problems = [
      id === undefined && `id: ${NO_ID}`,
      type === undefined && "type: must be a non-empty string",
      !isFields(payload) && "payload: must be an object",
    ];
    return refuse(problems.filter((problem) => problem !== false).join("; "));
  }
  const read = isEventType(type) ? payloadReaders[type](payload) : payload;
  if (typeof read === "string") return refuse(read);
  const date = typeof createdAt === "string" ? createdAt : "";
  // The table pairs each type with its payload, but the compiler cannot follow the lookup.
  const event = Object.assign(fields, { id, type, payload: read, createdAt: date }) as AnyEvent;
  return { ok: true, event };
}

/**
 * Parses an event from the inbox. The event is checked again because an older version, with fewer types, may have
 * stored it.
 *
 * @throws {ServiceBotError} BODY_INVALID if the text was never an event, or if its payload lacks a field that this
 *   version needs
 */
export function readStoredEvent(text: string): AnyEvent {
  const parsed = parseEvent(jsonOf(text));
  if (!parsed.ok) {
    throw new ServiceBotError("BODY_INVALID", `The event is malformed: ${parsed.reason}`);
  }
  const { id, type } = parsed.event;
  // A dead letter whose type or id resembles one of the bot's own events must not become such an event when an operator
  // retries it.
  if ((isOwn(type) || isOwn(id)) && !id.startsWith(`${type}:`)) {
    throw new ServiceBotError(
      "BODY_INVALID",
      `The event's id or type is reserved for the bot's own events: ${type}`,
    );
  }
  return parsed.event;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ServiceBotError("BODY_INVALID", "The event is not JSON");
  }
}

const NO_ID =
  "must be an integer or a non-empty string without lone surrogates or replacement characters";

/**
 * Rejects lone surrogates, and the replacement character that stands for invalid bytes. Different ids would become the
 * same text.
 */
function readId(value: unknown): string | undefined {
  const id = idText(value);
  return id?.isWellFormed() && !id.includes("\ufffd") ? id : undefined;
}

function readType(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Texts that handlers got in another form than the event has them, such as a message's full text. */
const givenTexts = new WeakMap<AnyEvent, readonly string[]>();

/** Notes texts that a handler gets, because its errors may quote them. */
export function noteTexts(event: AnyEvent, texts: readonly string[]): void {
  givenTexts.set(event, [...(givenTexts.get(event) ?? []), ...texts]);
}

/** Returns the total length of the noted texts, in characters. */
export function notedLength(event: AnyEvent): number {
  return givenTexts.get(event)?.reduce((sum, { length }) => sum + length, 0) ?? 0;
}

/**
 * Returns the texts in an event that users wrote, and those that handlers got. They must not appear in logs, errors or
 * dead letters.
 */
export function textsOf(event: AnyEvent): string[] {
  const { excerpt, data }: Readonly<Record<string, unknown>> = { ...event.payload };
  const given = givenTexts.get(event) ?? [];
  const texts = typeof excerpt === "string" ? [excerpt, ...given] : [...given];
  // A timer's data often contains text that a user wrote.
  return isOwn(event.type) ? [...texts, ...textsIn(data)] : texts;
}

/** Creates a function that redacts an event's texts. It redacts any text if a handler has made the event unreadable. */
export function scrubberOf(event: AnyEvent): (text: string) => string {
  const texts = tryRead(() => textsOf(event));
  return texts === undefined ? () => REDACTED : scrubber(texts);
}

// Section 6 of the platform document names a payload's fields but not their types, so only the fields that handlers
// need are required.

type Fields = Readonly<Record<string, unknown>>;

/** Returns the payload, or its problem as `path: problem`. A problem never contains a value from the event. */
type Reader<T> = (payload: Fields) => T | string;

/** Reads each type's payload. Ids become strings, and optional fields of an unexpected type become absent. */
const payloadReaders: { readonly [T in EventType]: Reader<PayloadByType[T]> } = {
  "dm.message": readDirectMessage,
  mention: readAnswerable,
  comment: readAnswerable,
  reply: readAnswerable,
  follow: readFollow,
  like: readActivity,
  repost: readActivity,
  quote: readActivity,
};

/** Event types that this version supports, in the order of section 6 of the platform document. */
export const eventTypes: readonly EventType[] = Object.keys(payloadReaders) as EventType[];

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(payloadReaders, type);
}

function readDirectMessage(payload: Fields): DmMessagePayload | string {
  const conversationId = idText(payload["conversationId"]);
  if (conversationId === undefined) return missing("conversationId:");
  const from = readSender(payload["from"]);
  return { ...payload, conversationId, from, excerpt: plainText(payload["excerpt"]) ?? "" };
}

function readFollow(payload: Fields): FollowPayload | string {
  const actor = readActor(payload["actor"]);
  if (actor.username === "") return missing("actor.username:");
  return { ...payload, ...readEntity(payload), actor };
}

function readActivity(payload: Fields): ActivityPayload {
  return {
    ...payload,
    ...readEntity(payload),
    actor: readActor(payload["actor"]),
    excerpt: plainText(payload["excerpt"]),
    postId: idText(payload["postId"]),
    commentId: idText(payload["commentId"]),
  };
}

/** Reads activity that a handler may reply to. A reply needs an entity or a post. */
function readAnswerable(payload: Fields): ActivityPayload | string {
  const activity = readActivity(payload);
  const isPlaced = activity.entityId !== undefined || activity.postId !== undefined;
  return isPlaced ? activity : missing("entityId: entityId or postId");
}

function readEntity(payload: Fields): Pick<FollowPayload, "entityType" | "entityId"> {
  return { entityType: plainText(payload["entityType"]), entityId: idText(payload["entityId"]) };
}

function readSender(from: unknown): Sender {
  const fields = fieldsOf(from);
  return { ...readActor(fields), userId: idText(fields["userId"]) };
}

function readActor(actor: unknown): Actor {
  const fields = fieldsOf(actor);
  const username = idText(fields["username"]) ?? "";
  // Use `||`, because an empty name counts as missing.
  return { ...fields, username, name: plainText(fields["name"]) || username };
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? { ...value } : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function plainText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

function missing(field: string): string {
  return `payload.${field} must be a non-empty string or an integer`;
}

/**
 * Maximum nesting depth of an event, including the event itself. Documented events have three levels. Some Node
 * versions serialize any depth while others fail at a few thousand levels, and an event must be valid on all of them.
 */
export const MAX_DEPTH = 100;

/**
 * Serializes an event for the store. Returns `undefined` if the event is nested deeper than {@link MAX_DEPTH}.
 *
 * @param text the event's JSON as the sender wrote it
 */
export function textOf(raw: unknown, text?: string): string | undefined {
  return isObject(raw) && isDeeper(raw, MAX_DEPTH) ? undefined : (text ?? JSON.stringify(raw));
}

/** Stops at `levels`. Does not allocate arrays of keys or values, because it runs for every event. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isObject(item) && isDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value];
    if (isObject(item) && isDeeper(item, levels - 1)) return true;
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
