import { invalid } from "../error.ts";
import { limit, text } from "../http/query.ts";
import { BEFORE_FIRST_EVENT, eventId, eventSeq } from "../store/ids.ts";
import type { Call, CallAnswer, Operation } from "./operation.ts";

/** GET /events (section 4). */
export const eventOperations: readonly Operation[] = [
  { method: "GET", path: "/events", scopes: ["read", "dm"], handle: readEvents },
];

function readEvents({ store, shown, query, scopes, bot }: Call): CallAnswer {
  const size = limit(query);
  const since = text(query, "since");
  if (since === "") {
    return { status: 200, body: { events: [], cursor: eventId(store.events.presentSeq(bot.seq)) } };
  }
  const after = since === undefined ? 0 : eventSeq(since);
  if (after === undefined) throw invalid("since must be an event id or a cursor of GET /events");
  const visible = { dms: scopes.has("dm"), others: scopes.has("read") };
  const events = store.events.page(bot.seq, after, visible, size).map(({ event }) => event);
  shown.note(bot.seq, events);
  // The last event shown, so that nothing is skipped; with none to show, where the client was.
  const cursor = events.at(-1)?.id ?? since ?? BEFORE_FIRST_EVENT;
  return { status: 200, body: { events, cursor }, eventIds: events.map(({ id }) => id) };
}
