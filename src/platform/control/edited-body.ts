import { invalid, PlatformError } from "../error.ts";
import { MAX_BATCH } from "../webhooks/deliverer.ts";
import type { Content } from "../webhooks/signed.ts";

/** The longest body that can be sent, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** What looks like the id of an event. */
const EVENT_ID = /^evt_[\w-]{1,64}$/;

/**
 * A body of somebody's own, to be delivered as it is. It need not be JSON: what a bot makes of that is a good question.
 *
 * @throws {PlatformError} 400 VALIDATION: it holds half a character; 413 TOO_LARGE
 */
export function editedContent(text: string): Content {
  if (!text.isWellFormed()) throw invalid("body must be text that can be written in UTF-8");
  const body = Buffer.from(text);
  if (body.byteLength > MAX_BYTES) {
    throw new PlatformError(413, "TOO_LARGE", `body holds at most ${MAX_BYTES} bytes.`);
  }
  const all = eventsIn(text);
  const events = all.filter(isEvent).slice(0, MAX_BATCH);
  return { body, eventIds: events.map(({ id }) => id), events, count: all.length };
}

/** As far as it can be told by its id; what has no payload concerns nothing. */
function isEvent(value: unknown): value is Content["events"][number] {
  const { id }: { id?: unknown } = Object(value);
  return typeof id === "string" && EVENT_ID.test(id);
}

function eventsIn(text: string): readonly unknown[] {
  try {
    const { events }: { events?: unknown } = Object(JSON.parse(text));
    return Array.isArray(events) ? events : [];
  } catch {
    return [];
  }
}
