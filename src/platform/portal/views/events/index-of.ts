import type { RunEntry, TimelineEntry } from "../../../types.ts";

/** How far an event has come: to the webhook, to a bot that polls, nowhere so far, or nowhere yet. */
export type EventOutcome = "delivered" | "read" | "failed" | "waiting";

/** What the timeline knows about an event. */
export interface Story {
  readonly type: string;
  /** A username. */
  readonly from: string;
  readonly outcome: EventOutcome;
  /** The newest run that the bot has reported; absent if it has reported none. */
  readonly run?: RunEntry;
}

/** The stories of the events in the timeline, by their ids. */
export type Index = ReadonlyMap<string, Story>;

/** What became of an event. One delivery that the bot took is enough, whatever the others came to. */
export function outcomeOf(
  deliveries: readonly { readonly error?: string }[],
  read: boolean,
): EventOutcome {
  if (deliveries.some(({ error }) => error === undefined)) return "delivered";
  if (read) return "read";
  return deliveries.length > 0 ? "failed" : "waiting";
}

/** What happened to each event. */
export function indexOf(entries: readonly TimelineEntry[]): Index {
  const index = new Map<string, Story>();
  for (const entry of entries) {
    if (entry.kind === "event") {
      const { id, type, from } = entry;
      index.set(id, { type, from, outcome: "waiting" });
    } else if (entry.kind === "run") {
      const story = index.get(entry.eventId);
      if (story !== undefined) index.set(entry.eventId, { ...story, run: entry });
    } else if (entry.kind === "delivery" || entry.kind === "api") {
      const outcome = broughtAbout(entry);
      if (outcome !== undefined) for (const id of entry.eventIds ?? []) raise(index, id, outcome);
    }
  }
  return index;
}

function broughtAbout(entry: TimelineEntry & { kind: "delivery" | "api" }) {
  if (entry.kind === "api") return entry.status === 200 ? "read" : undefined;
  return entry.error === undefined ? "delivered" : "failed";
}

const rank: Readonly<Record<EventOutcome, number>> = {
  waiting: 0,
  failed: 1,
  read: 2,
  delivered: 3,
};

function raise(index: Map<string, Story>, id: string, outcome: EventOutcome): void {
  const story = index.get(id);
  if (story === undefined || rank[story.outcome] >= rank[outcome]) return;
  index.set(id, { ...story, outcome });
}

/** The events that an entry is about. */
export function eventIdsOf(entry: TimelineEntry): readonly string[] {
  if (entry.kind === "event") return [entry.id];
  if (entry.kind === "delivery") return entry.eventIds;
  if (entry.kind === "run") return [entry.eventId];
  if (entry.kind !== "api") return [];
  const { eventId, eventIds = [] } = entry;
  return eventId === undefined ? eventIds : [...eventIds, eventId];
}
