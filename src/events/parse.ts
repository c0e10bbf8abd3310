import { parseJson } from "../core/json.ts";
import * as z from "../core/zod.ts";
import { ServiceBotError } from "../errors.ts";
import { idText } from "./id.ts";
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
      /** `undefined` where it could not be read. */
      readonly id: string | undefined;
      /** `undefined` where it could not be read. */
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

/**
 * Checks one event as it came over the wire (sections 2 and 6 of the platform document). New fields pass through, new
 * types come out as unknown events; it never throws.
 */
export function parseEvent(raw: unknown): ParsedEvent {
  const head = envelope.safeParse(raw);
  if (!head.success) return unusable(raw, reasonOf(head.error));
  const payload = readPayload(head.data.type, head.data.payload);
  if (payload instanceof PayloadProblem) return unusable(raw, payload.text);
  // The table of readers pairs each type with its payload; the compiler cannot follow the lookup.
  return { ok: true, event: { ...head.data, payload } as AnyEvent };
}

/**
 * Reads an event from the text that the inbox keeps. Its shape was checked when it came in, so only its payload is read
 * again: an older version may have stored it, which knew fewer types.
 *
 * @throws {ServiceBotError} BODY_INVALID for a text that never was an event, or whose payload lacks what this version needs
 */
export function readStoredEvent(text: string): AnyEvent {
  const raw = jsonOf(text);
  return eventIn(raw) ?? refuse(raw);
}

/** The event of a stored value; `undefined` if it is none. */
function eventIn(raw: unknown): AnyEvent | undefined {
  if (!isFields(raw)) return undefined;
  const { type, payload, createdAt } = raw;
  const id = idText(raw["id"]);
  if (!id?.isWellFormed() || typeof type !== "string" || type === "") return undefined;
  const read = isFields(payload) ? readPayload(type, payload) : undefined;
  if (read === undefined || read instanceof PayloadProblem) return undefined;
  const date = typeof createdAt === "string" ? createdAt : "";
  return { ...raw, id, type, payload: read, createdAt: date } as AnyEvent;
}

function refuse(raw: unknown): never {
  const parsed = parseEvent(raw);
  const reason = raw === NO_JSON || parsed.ok ? "it is not JSON" : parsed.reason;
  throw new ServiceBotError("BODY_INVALID", `The event cannot be read: ${reason}`);
}

const NO_JSON = Symbol("text that is not JSON");

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return NO_JSON;
  }
}

/** Reads a payload as its type has it; that of a type newer than this version stays as it is. */
function readPayload(type: string, payload: Fields): AnyEvent["payload"] | PayloadProblem {
  return isEventType(type) ? payloadReaders[type](payload) : payload;
}

/** Lists the texts that people wrote in an event: no log, error or dead letter may show them. */
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
  return isFields(raw) && Object.hasOwn(raw, key) ? raw[key] : undefined;
}

// Section 6 names the fields of a payload and shows no types. So a payload needs only what no handler can do without.

type Fields = Readonly<Record<string, unknown>>;

/** Problem of a payload, as `path: problem`; never a value from the event. */
class PayloadProblem {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Reader<T> = (payload: Fields) => T | PayloadProblem;

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

/** The event types that this version knows, in the order of section 6 of the platform document. */
export const eventTypes: readonly EventType[] = Object.keys(payloadReaders) as EventType[];

/** True for a type that this version knows. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(payloadReaders, type);
}

function readDirectMessage(payload: Fields): DmMessagePayload | PayloadProblem {
  const conversationId = idText(payload["conversationId"]);
  if (conversationId === undefined) return missing("conversationId:");
  const from = readSender(payload["from"]);
  return { ...payload, conversationId, from, excerpt: plainText(payload["excerpt"]) ?? "" };
}

function readFollow(payload: Fields): FollowPayload | PayloadProblem {
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

/** Activity that calls for an answer, which needs a place. */
function readAnswerable(payload: Fields): ActivityPayload | PayloadProblem {
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

/** The fields of an object; of any other value none. */
function fieldsOf(value: unknown): Fields {
  return isFields(value) ? { ...value } : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text, or a number as text. Any other value counts as absent. */
function plainText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

function missing(field: string): PayloadProblem {
  return new PayloadProblem(`payload.${field} must be a text that is not empty, or a whole number`);
}

/**
 * Levels of objects and lists in an event, itself included; documented events have three. Some versions of Node write any
 * depth as text, others give up at a few thousand levels: far below that, an event is the same on each.
 */
export const MAX_DEPTH = 100;

/** Writes an event as the text that is stored; `undefined` for one with more than {@link MAX_DEPTH} levels. */
export function textOf(raw: unknown): string | undefined {
  return isObject(raw) && isDeeper(raw, MAX_DEPTH) ? undefined : JSON.stringify(raw);
}

/** Looks no deeper than it asks for. Every event comes by here: it makes no lists of keys or values. */
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
