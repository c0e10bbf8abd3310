import { type Kind, numberIn, oneOf, SIGNAL, STRING, STRINGS } from "../core/kinds.ts";
import { copyFields, type OptionTable, readFields, requireKind } from "../core/option-checks.ts";
import { apiErrorOf } from "./errors.ts";
import type { CallOptions, OutgoingMessage, PageOptions, SearchQuery } from "./resources.ts";

/** Checks of the client's arguments, which JavaScript callers and casts may get wrong. */

/** Page sizes of the platform (section 8 of the platform document). */
export const LIMIT: Kind = numberIn({ min: 1, max: 50, whole: true });

export const CALL_OPTIONS: OptionTable<CallOptions> = { signal: SIGNAL };

export const PAGE_OPTIONS: OptionTable<PageOptions> = {
  ...CALL_OPTIONS,
  limit: LIMIT,
  cursor: STRING,
};

export const EVENTS_QUERY: OptionTable<object> = { since: STRING, limit: LIMIT };

export const EVENTS_OPTIONS: OptionTable<object> = {
  ...CALL_OPTIONS,
  purpose: oneOf(["audit", "poll"]),
};

const PARAMETER: Kind = {
  expected: "a string",
  fits: (value) => ["string", "number", "boolean"].includes(typeof value),
};

/** @throws {ServiceBotError} INVALID_OPTION */
export function readSearch(given: SearchQuery): SearchQuery {
  const query = copyFields("query", given);
  const { text, ...others } = query;
  requireKind("query.text", text, STRING);
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined) requireKind(`query.${name}`, value, PARAMETER);
  }
  return query;
}

const IMAGES: Kind = { expected: "an array of images", fits: Array.isArray };

const OUTGOING: OptionTable<OutgoingMessage> = {
  text: STRING,
  images: IMAGES,
  imageKeys: STRINGS,
};

/**
 * Maximum length of a text, in characters. The platform's own limit is not documented, but far lower. A step's text is
 * stored before it is sent.
 */
const MAX_TEXT = 1_000_000;

/**
 * Reads a message's text and images, once. Skips other fields.
 *
 * @throws {ServiceBotError} INVALID_OPTION
 * @throws {ContentError} TOO_LONG, as the platform would
 */
export function readOutgoing(given: OutgoingMessage): OutgoingMessage {
  const message = readFields(given, OUTGOING, "message.");
  const { length = 0 } = message.text ?? "";
  if (length <= MAX_TEXT) return message;
  const problem = `The text has ${length} characters; the limit is ${MAX_TEXT}.`;
  throw apiErrorOf(problem, { status: 400, platformCode: "TOO_LONG", local: true });
}
