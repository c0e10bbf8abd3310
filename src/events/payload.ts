/**
 * Fields of the payloads, as data: how a field is read, and which parts of the bot use it. types.ts describes the
 * fields to users.
 *
 * Section 6 of the platform document names a payload's fields but not their types, so only the fields that handlers
 * need are required.
 */
import { isRecord } from "../core/json.ts";
import { idText } from "./id.ts";
import type {
  ActivityPayload,
  Actor,
  DmMessagePayload,
  EventPlace,
  EventType,
  FollowPayload,
  PayloadByType,
  Sender,
} from "./types.ts";

interface Field<T = unknown, IsCopied = boolean> {
  /** Reads the value as sent. A value of an unexpected type becomes `undefined`, or a default. */
  readonly read: (value: unknown) => T;
  /** True if a timer's payload has the field of the event that set the timer. */
  readonly isCopied: IsCopied;
  /** True if section 6 of the platform document marks the field as optional. */
  readonly isOptional?: true;
  /** True if users write the field. It must not appear in logs, errors or dead letters. */
  readonly isText?: true;
}

/**
 * A row for each field of the payload `P`. The reader of a field in `Required` may return `undefined`, so that the
 * event is refused.
 */
type FieldsOf<P, Required = never> = {
  readonly [K in keyof P]-?: Field<
    K extends Required ? P[K] | undefined : P[K],
    K extends keyof EventPlace ? true : false
  >;
};

const message: FieldsOf<DmMessagePayload, "conversationId"> = {
  conversationId: { read: idText, isCopied: true },
  from: { read: readSender, isCopied: true },
  excerpt: { read: (value) => plainText(value) ?? "", isCopied: false, isText: true },
};

const follow: FieldsOf<FollowPayload> = {
  actor: { read: readActor, isCopied: true },
  entityType: { read: plainText, isCopied: true },
  entityId: { read: idText, isCopied: true },
};

const activity: FieldsOf<ActivityPayload> = {
  ...follow,
  excerpt: { read: plainText, isCopied: false, isOptional: true, isText: true },
  postId: { read: idText, isCopied: true, isOptional: true },
  commentId: { read: idText, isCopied: true, isOptional: true },
};

interface Shape<P> {
  readonly fields: { readonly [K in keyof P]-?: Field };
  /** Paths of which at least one needs a value. Empty if no field is required. */
  readonly required: readonly string[];
}

/** A handler may reply to this activity, and a reply needs an entity or a post. */
const answerable: Shape<ActivityPayload> = { fields: activity, required: ["entityId", "postId"] };

const reaction: Shape<ActivityPayload> = { fields: activity, required: [] };

/** Shape of each type's payload, in the order of section 6 of the platform document. */
export const shapes: { readonly [T in EventType]: Shape<PayloadByType[T]> } = {
  "dm.message": { fields: message, required: ["conversationId"] },
  mention: answerable,
  comment: answerable,
  reply: answerable,
  follow: { fields: follow, required: ["actor.username"] },
  like: reaction,
  repost: reaction,
  quote: reaction,
};

/** Event types that this version supports, in the order of section 6 of the platform document. */
export const eventTypes: readonly EventType[] = Object.keys(shapes) as EventType[];

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(shapes, type);
}

/** Returns the names of all fields with a mark, each once. */
function fieldsWith(mark: "isCopied" | "isOptional" | "isText"): readonly string[] {
  const all = eventTypes.flatMap((type): [string, Field][] => Object.entries(shapes[type].fields));
  return [...new Set(all.flatMap(([name, field]) => (field[mark] === true ? [name] : [])))];
}

/** Fields that a timer's payload copies from the event that set the timer. */
export const copiedFields: readonly string[] = fieldsWith("isCopied");

/** Fields that section 6 of the platform document marks as optional. */
export const optionalFields: readonly string[] = fieldsWith("isOptional");

/** Fields with a text that a user wrote. */
export const textFields: readonly string[] = fieldsWith("isText");

export type Fields = Readonly<Record<string, unknown>>;

/** A type's shape, prepared for reading. */
interface Reader {
  readonly fields: readonly { readonly name: string; readonly read: Field["read"] }[];
  readonly required: readonly (readonly string[])[];
  /** Problem of a payload without a required value. */
  readonly problem: string;
}

const readers = new Map<string, Reader>(eventTypes.map((type) => [type, readerOf(shapes[type])]));

function readerOf({ fields, required }: Shape<object>): Reader {
  const entries: [string, Field][] = Object.entries(fields);
  const [first = ""] = required;
  const names = required.length > 1 ? `${required.join(" or ")} ` : "";
  return {
    fields: entries.map(([name, { read }]) => ({ name, read })),
    required: required.map((path) => path.split(".")),
    problem: `payload.${first}: ${names}must be a non-empty string or an integer`,
  };
}

/**
 * Reads the payload of a known type, and returns any other payload unchanged. Ids become strings. Returns the problem
 * as `path: problem` if a required value is missing. A problem never contains a value from the event.
 */
export function readPayload(type: string, payload: Fields): Fields | string {
  const reader = readers.get(type);
  if (reader === undefined) return payload;
  // The spread copies own properties only.
  const read: Record<string, unknown> = { ...payload };
  for (const field of reader.fields) {
    const sent = read[field.name];
    const value = field.read(sent);
    if (value !== sent) read[field.name] = value;
  }
  return isComplete(read, reader.required) ? read : reader.problem;
}

function isComplete(payload: Fields, required: Reader["required"]): boolean {
  if (required.length === 0) return true;
  for (const path of required) {
    let value: unknown = payload;
    for (const name of path) value = Object(value)[name];
    if (value !== undefined && value !== "") return true;
  }
  return false;
}

function readSender(from: unknown): Sender {
  const sender = readActor(from);
  return { ...sender, userId: idText(sender["userId"]) };
}

function readActor(actor: unknown): Actor & Fields {
  // The spread copies own properties only.
  const fields: Fields = isRecord(actor) ? { ...actor } : {};
  const username = idText(fields["username"]) ?? "";
  // Use `||`, because an empty name counts as missing.
  return { ...fields, username, name: plainText(fields["name"]) || username };
}

function plainText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}
