import { randomInt } from "node:crypto";

/**
 * Bounds for JSON from another program, because each value takes memory and each event takes time. The smallest event
 * of a documented type has 140 bytes and 10 values, so no number of such events is out of bounds.
 */
const FREE_EVENTS = 10_000;
const BYTES_PER_EVENT = 128;
const FREE_VALUES = 500_000;
const BYTES_PER_VALUE = 12;

/** Maximum number of different field names. V8 takes 6 µs and 300 bytes for each. */
const MAX_NAMES = 10_000;

/** Size below which JSON is always within bounds, in bytes. An event or a name takes at least two. */
const MIN_BYTES = 2 * Math.min(FREE_EVENTS, MAX_NAMES);

/** Depth of the events in `{"events":[…]}`. */
const EVENTS_DEPTH = 2;

/** Returns the maximum number of events in a delivery. */
export function maxEventsIn({ length }: Uint8Array): number {
  return FREE_EVENTS + length / BYTES_PER_EVENT;
}

/**
 * Returns whether JSON has more values than its size justifies, or too many different field names. Reads only the
 * bytes, so the values take no memory.
 *
 * @param maxEvents maximum number of elements in the root and in its lists together
 */
export function isTooComplex(
  json: Uint8Array,
  maxEvents: number = Number.POSITIVE_INFINITY,
): boolean {
  if (json.length < MIN_BYTES) return false;
  const maxValues = FREE_VALUES + json.length / BYTES_PER_VALUE;
  const names = new Set<number>();
  let values = 0;
  let events = 0;
  let depth = 0;
  let text: number | undefined;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        text = at;
        at = endOfText(json, at);
        break;
      case COLON:
        if (text !== undefined) names.add(hashOfText(json, text));
        text = undefined;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        values += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        if (depth <= EVENTS_DEPTH) events += 1;
        if (values > maxValues || events > maxEvents || names.size > MAX_NAMES) return true;
        break;
    }
  }
  return values > maxValues;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** Returns the position of the quote that ends the text, or the end of the JSON. */
function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Random, so that a sender cannot find texts with equal hashes. Odd, so that no bits get lost. */
const MULTIPLIER = randomInt(2 ** 31) * 2 + 1;

function hashOfText(json: Uint8Array, start: number): number {
  const end = endOfText(json, start);
  let hash = end - start;
  for (let at = start + 1; at < end; at += 1) hash = Math.imul(hash ^ (json[at] ?? 0), MULTIPLIER);
  return hash;
}
