import { hasLongInteger, parseJson } from "../core/json.ts";

export interface WireEvents {
  readonly events: readonly unknown[];
  /** JSON of each event, as sent. Absent if the body could not be split. */
  readonly texts?: readonly string[];
}

const HEAD = '{"events":[';
const TAIL = "]}";
const BETWEEN = "},{";

/**
 * Parses a delivery's body. Returns `undefined` unless it has the form `{"events":[…]}`.
 *
 * @throws {SyntaxError} if the text is not JSON
 */
export function readEvents(body: string): WireEvents | undefined {
  const cut = cutEvents(body);
  if (cut !== undefined) return cut;
  const { events }: { readonly events?: unknown } = Object(parseJson(body));
  return Array.isArray(events) ? { events } : undefined;
}

/**
 * Splits a compact body between its events, so that they need not be serialized again. A split inside an event produces
 * invalid JSON, in which case the body is parsed as a whole.
 */
function cutEvents(body: string): WireEvents | undefined {
  if (!body.startsWith(HEAD) || !body.endsWith(TAIL) || hasLongInteger(body)) return undefined;
  const end = body.length - TAIL.length;
  const events: unknown[] = [];
  const texts: string[] = [];
  try {
    for (let at = HEAD.length; at < end; ) {
      const border = body.indexOf(BETWEEN, at);
      const until = border < 0 ? end : border + 1;
      const text = body.slice(at, until);
      events.push(JSON.parse(text));
      texts.push(text);
      at = until + 1;
    }
    return { events, texts };
  } catch {
    return undefined;
  }
}
