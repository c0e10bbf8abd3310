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
  const events = eventsIn(text);
  const eventIds = events
    .map((event) => Object(event).id as unknown)
    .filter((id): id is string => typeof id === "string" && EVENT_ID.test(id))
    .slice(0, MAX_BATCH);
  return { body, eventIds, events: events.length };
}

function eventsIn(text: string): readonly unknown[] {
  try {
    const { events }: { events?: unknown } = Object(JSON.parse(text));
    return Array.isArray(events) ? events : [];
  } catch {
    return [];
  }
}
