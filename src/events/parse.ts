import { isRecord, parseJson, textsIn } from "../core/json.ts";
import { REDACTED, scrubber } from "../core/safe-text.ts";
import { ServiceBotError, tryRead } from "../errors.ts";
import { idText } from "./id.ts";
import { isOwn } from "./own.ts";
import { readPayload, textFields } from "./payload.ts";
import type { AnyEvent } from "./types.ts";

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
  const fields = isRecord(raw) ? { ...raw } : undefined;
  const id = readId(fields?.["id"]);
  const type = readType(fields?.["type"]);
  const refuse = (reason: string): ParsedEvent => ({ ok: false, id, type, reason });
  if (fields === undefined) return refuse("the event must be an object");
  const { payload, createdAt } = fields;
  if (id === undefined || type === undefined || !isRecord(payload)) {
    const problems = [
      id === undefined && `id: ${NO_ID}`,
      type === undefined && "type: must be a non-empty string",
      !isRecord(payload) && "payload: must be an object",
    ];
    return refuse(problems.filter((problem) => problem !== false).join("; "));
  }
  const read = readPayload(type, payload);
  if (typeof read === "string") return refuse(read);
  const date = typeof createdAt === "string" ? createdAt : "";
  // The table of payloads pairs each type with its fields, but the compiler cannot follow the lookup.
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
  // Read by field rather than by type, so that types newer than this version are covered too.
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const written = textFields
    .map((name) => payload[name])
    .filter((text) => typeof text === "string");
  const texts = [...written, ...(givenTexts.get(event) ?? [])];
  // A timer's data often contains text that a user wrote.
  return isOwn(event.type) ? [...texts, ...textsIn(payload["data"])] : texts;
}

/** Creates a function that redacts an event's texts. It redacts any text if a handler has made the event unreadable. */
export function scrubberOf(event: AnyEvent): (text: string) => string {
  const texts = tryRead(() => textsOf(event));
  return texts === undefined ? () => REDACTED : scrubber(texts);
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
