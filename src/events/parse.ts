import { parseJson, textsIn } from "../core/json.ts";
import { ServiceBotError } from "../errors.ts";
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

/** The result of reading one element of `events`. */
export type ParsedEvent =
  | { readonly ok: true; readonly event: AnyEvent }
  | {
      readonly ok: false;
      /** `undefined` if it cannot be read. */
      readonly id: string | undefined;
      /** `undefined` if it cannot be read. */
      readonly type: string | undefined;
      /** Why the event cannot be handled, by path; never a value from the event. */
      readonly reason: string;
    };

/**
 * Checks one event, as it came over the wire or as the inbox keeps it (sections 2 and 6 of the platform document). New
 * fields pass through, new types come out as unknown events; it never throws.
 */
export function parseEvent(raw: unknown): ParsedEvent {
  // A copy has own fields alone.
  const fields = isFields(raw) ? { ...raw } : undefined;
  const id = readId(fields?.["id"]);
  const type = readType(fields?.["type"]);
  const refuse = (reason: string): ParsedEvent => ({ ok: false, id, type, reason });
  if (fields === undefined) return refuse("the event must be an object");
  const { payload, createdAt } = fields;
  if (id === undefined || type === undefined || !isFields(payload)) {
    const problems = [
      id === undefined && `id: ${NO_ID}`,
      type === undefined && "type: must be a non-empty text",
      !isFields(payload) && "payload: must be an object",
    ];
    return refuse(problems.filter((problem) => problem !== false).join("; "));
  }
  const read = isEventType(type) ? payloadReaders[type](payload) : payload;
  if (typeof read === "string") return refuse(read);
  const date = typeof createdAt === "string" ? createdAt : "";
  // The table of readers pairs each type with its payload; the compiler cannot follow the lookup.
  const event = Object.assign(fields, { id, type, payload: read, createdAt: date }) as AnyEvent;
  return { ok: true, event };
}

/**
 * Reads an event from the text that the inbox keeps. It is checked again, because an older version may have stored it,
 * which knew fewer types.
 *
 * @throws {ServiceBotError} BODY_INVALID for a text that never was an event, or whose payload lacks what this version needs
 */
export function readStoredEvent(text: string): AnyEvent {
  const parsed = parseEvent(jsonOf(text));
  if (!parsed.ok) {
    throw new ServiceBotError("BODY_INVALID", `The event is malformed: ${parsed.reason}`);
  }
  const { id, type } = parsed.event;
  // A dead letter with the name of an own event does not become one when a person retries it.
  if ((isOwn(type) || isOwn(id)) && !id.startsWith(`${type}:`)) {
    throw new ServiceBotError(
      "BODY_INVALID",
      `The event's id is reserved for the bot's own events: ${type}`,
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

const NO_ID = "must be a whole number or a non-empty text without lone surrogates";

/** The store keeps UTF-8, in which all halves of characters are the same: events would pass for others. */
function readId(value: unknown): string | undefined {
  const id = idText(value);
  return id?.isWellFormed() ? id : undefined;
}

function readType(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Lists the texts that people wrote in an event: no log, error or dead letter may show them. */
export function textsOf(event: AnyEvent): string[] {
  const { excerpt, data }: Readonly<Record<string, unknown>> = { ...event.payload };
  const texts = typeof excerpt === "string" ? [excerpt] : [];
  // The data of a timer is mostly text that a person wrote.
  return isOwn(event.type) ? [...texts, ...textsIn(data)] : texts;
}

// Section 6 names the fields of a payload and shows no types, so only what each handler needs is required.

type Fields = Readonly<Record<string, unknown>>;

/** Returns the payload, or its problem as `path: problem`; never a value from the event. */
type Reader<T> = (payload: Fields) => T | string;

/** Reads the payload of each type: ids become texts, and optional fields of another kind become absent. */
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

/** Event types that this version knows, in the order of section 6 of the platform document. */
export const eventTypes: readonly EventType[] = Object.keys(payloadReaders) as EventType[];

/** Returns whether this version knows the type. */
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

/** Reads activity that calls for an answer, which needs a place. */
function readAnswerable(payload: Fields): ActivityPayload | string {
  const activity = readActivity(payload);
  const isPlaced = activity.entityId !== undefined || activity.postId !== undefined;
  return isPlaced ? activity : missing("entityId: this or postId");
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
  // `||`: an empty name is no name.
  return { ...fields, username, name: plainText(fields["name"]) || username };
}

/** Returns the fields of an object, and none of any other value. */
function fieldsOf(value: unknown): Fields {
  return isFields(value) ? { ...value } : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a text, or a number as text. Any other value counts as absent. */
function plainText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

function missing(field: string): string {
  return `payload.${field} must be a non-empty text or a whole number`;
}

/**
 * Levels of objects and lists in an event, itself included; documented events have three. Some versions of Node write any
 * depth as text, others give up at a few thousand levels: far below that, an event is the same on each.
 */
export const MAX_DEPTH = 100;

/**
 * Writes an event as the text that is stored; `undefined` for one with more than {@link MAX_DEPTH} levels.
 *
 * @param text its JSON as the sender wrote it
 */
export function textOf(raw: unknown, text?: string): string | undefined {
  return isObject(raw) && isDeeper(raw, MAX_DEPTH) ? undefined : (text ?? JSON.stringify(raw));
}

/** Looks no deeper than `levels`. Runs for every event, so it makes no lists of keys or values. */
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
