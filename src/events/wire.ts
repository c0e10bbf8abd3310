import { hasLongId, parseJson } from "../core/json.ts";

/** The elements of `events`, as they came over the wire. */
export interface WireEvents {
  readonly events: readonly unknown[];
  /** The JSON of each event as the sender wrote it; absent unless the body could be cut. */
  readonly texts?: readonly string[];
}

const HEAD = '{"events":[';
const TAIL = "]}";
const BETWEEN = "},{";

/**
 * Reads the body of a delivery. `undefined` unless it is `{"events":[…]}`.
 *
 * @throws {SyntaxError} when the text is not JSON
 */
export function readEvents(body: string): WireEvents | undefined {
  const cut = cutEvents(body);
  if (cut !== undefined) return cut;
  const { events }: { readonly events?: unknown } = Object(parseJson(body));
  return Array.isArray(events) ? { events } : undefined;
}

/**
 * Cuts a compact body between its events, so that their text need not be made again. Each piece is JSON by itself, so the
 * body is the list of these pieces. Cut inside an event, a piece is no JSON. Other bodies are not cut.
 */
function cutEvents(body: string): WireEvents | undefined {
  if (!body.startsWith(HEAD) || !body.endsWith(TAIL) || hasLongId(body)) return undefined;
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
