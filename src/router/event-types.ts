import type { Kind } from "../core/kinds.ts";
import { didYouMean, nearestName } from "../core/names.ts";
import { refuseProblems, requireKind } from "../core/option-checks.ts";
import { isSchema, type StandardSchemaV1, validateNow } from "../core/standard-schema.ts";
import { ServiceBotError } from "../errors.ts";
import { isOwn } from "../events/own.ts";
import { eventTypes, isEventType } from "../events/payload.ts";
import type { AnyEvent } from "../events/types.ts";

/**
 * Checks event types that handlers name, at registration and in `ctx.is`, because JavaScript callers and casts bypass
 * the types.
 */

/** Maximum length of an event type, in characters. Error messages repeat the type. */
const MAX_TYPE = 200;

const TYPES: Kind = {
  expected: `an event type of up to ${MAX_TYPE} characters, or a non-empty array of such types`,
  fits: (list) => Array.isArray(list) && list.length > 0 && list.every(isType),
};

function isType(type: unknown): boolean {
  return typeof type === "string" && type.length <= MAX_TYPE;
}

/**
 * Returns one or several event types as a list.
 *
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function readTypes(given: unknown): readonly string[] {
  const list = isType(given) ? [given] : given;
  requireKind("types", list, TYPES);
  return list as readonly string[];
}

const OTHER_TYPE =
  'For a custom type, pass its schema, as in on("poll.closed", schema, handler), or use onUnknown.';

/**
 * @param otherwise remedy for a custom type
 * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE
 */
export function refuseUnknownType(type: string, otherwise: string = OTHER_TYPE): never {
  throw new ServiceBotError(
    "UNKNOWN_EVENT_TYPE",
    `Unknown event type "${type}".${didYouMean(type, eventTypes)} Known types: ${eventTypes.join(", ")}. ` +
      otherwise,
  );
}

export function payloadInvalid(what: string, problem: string): ServiceBotError {
  return new ServiceBotError("PAYLOAD_INVALID", `${what} does not match its schema: ${problem}`);
}

export interface TypeGuardOptions {
  readonly event: AnyEvent;
  readonly handledTypes: () => readonly string[];
  /** Replaces `ctx.payload` with a schema's output. */
  readonly setPayload: (payload: unknown) => void;
}

/** Creates `ctx.is` for an event. */
export function createTypeGuard(options: TypeGuardOptions): (...given: unknown[]) => boolean {
  return (...given) => {
    const [type, schema] = given;
    if (isSchema(schema)) return matchesSchema(type, schema, options);
    const types = readTypes(given.length === 1 ? type : given);
    if (types.includes(options.event.type)) return true;
    for (const type of types) refuseMisspelt(type, options);
    return false;
  };
}

/** @throws {ServiceBotError} INVALID_OPTION, PAYLOAD_INVALID */
function matchesSchema(
  type: unknown,
  schema: StandardSchemaV1,
  { event, setPayload }: TypeGuardOptions,
): boolean {
  readTypes([type]);
  if (event.type !== type) return false;
  const read = validateNow(schema, event.payload);
  if (read === undefined) {
    refuseProblems([
      `is("${type}") needs a synchronous schema. Validate asynchronously in on("${type}", schema, handler)`,
    ]);
  } else if (!read.ok) throw payloadInvalid(`The payload of ${type}`, read.problem);
  else setPayload(read.value);
  return true;
}

/**
 * Refuses a misspelt type, which no event would ever have. Other unknown names may be custom types. In an event of an
 * unknown type, a similar name may be one as well.
 */
function refuseMisspelt(type: string, { event, handledTypes }: TypeGuardOptions): void {
  if (isEventType(type) || isOwn(type) || handledTypes().includes(type)) return;
  if (!isEventType(event.type) || nearestName(type, eventTypes) === undefined) return;
  refuseUnknownType(type, `For a custom type, pass its schema, as in ctx.is("${type}", schema).`);
}
