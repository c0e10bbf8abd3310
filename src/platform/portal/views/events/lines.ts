import { wordsOf } from "../../../timeline/words.ts";
import type { TimelineEntry } from "../../api/shapes.ts";
import type { Tone } from "../../parts/bits.tsx";
import { type EventOutcome, eventIdsOf, type Index } from "./index-of.ts";

/** What came of something, in a word. */
export interface Mark {
  readonly tone: Tone;
  readonly text: string;
}

const ofEvent: Readonly<Record<EventOutcome, Mark>> = {
  delivered: { tone: "good", text: "delivered" },
  read: { tone: "good", text: "read by polling" },
  failed: { tone: "bad", text: "failed" },
  waiting: { tone: "warn", text: "waiting" },
};

/** What became of an event, for people. */
export function markOfEvent(outcome: EventOutcome): Mark {
  return ofEvent[outcome];
}

/** What came of a delivery. */
export function markOfDelivery({ error }: { readonly error?: string }): Mark {
  return error === undefined ? ofEvent.delivered : ofEvent.failed;
}

/** What came of a request to the API. */
export function markOfCall({ status }: { readonly status: number | null }): Mark {
  if (status === null) return { tone: "bad", text: "no answer" };
  return status < 400 ? { tone: "good", text: "answered" } : { tone: "bad", text: "refused" };
}

const changed: Readonly<Record<string, Tone>> = {
  enabled: "good",
  disabled: "bad",
  set: "warn",
  held: "warn",
};

/** What came of an entry, and whether a fault had a hand in it. */
export function marksOf(entry: TimelineEntry, index: Index): readonly Mark[] {
  const fault = "fault" in entry ? entry.fault : undefined;
  const marks = fault === undefined ? [] : [{ tone: "warn", text: `fault: ${fault}` } as const];
  switch (entry.kind) {
    case "event":
      return [markOfEvent(index.get(entry.id)?.outcome ?? "waiting")];
    case "delivery":
      return [...marks, markOfDelivery(entry)];
    case "api":
      return [...marks, markOfCall(entry)];
    default:
      return [{ tone: changed[entry.change] ?? "plain", text: entry.change }];
  }
}

/** Whether it is one of the requests that polling makes all the time, and that brought nothing. */
export function isRead(entry: TimelineEntry): boolean {
  return (
    entry.kind === "api" &&
    entry.method === "GET" &&
    entry.status === 200 &&
    (entry.eventIds ?? []).length === 0
  );
}

/** What is opened when the entry is: its own record, where there is one. */
export function addressedAs(entry: TimelineEntry): string {
  return "id" in entry ? entry.id : `seq_${entry.seq}`;
}

const searched = new WeakMap<TimelineEntry, string>();

/** Everything by which an entry is found, in small letters. */
export function searchTextOf(entry: TimelineEntry): string {
  const known = searched.get(entry);
  if (known !== undefined) return known;
  const { created = {} } = entry.kind === "api" ? entry : {};
  const bot = "bot" in entry ? `@${entry.bot}` : "";
  const ids = [addressedAs(entry), ...eventIdsOf(entry), ...Object.values(created)];
  const text = `${entry.kind} ${wordsOf(entry)} ${bot} ${ids.join(" ")}`.toLowerCase();
  searched.set(entry, text);
  return text;
}

/** Where the entry with this number stands, or would stand. They are in the order of their numbers. */
export function placeOf(entries: readonly TimelineEntry[], seq: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a key leads in a list; undefined for one that leads nowhere. */
export function moved(
  key: string,
  { from, count, page }: { readonly from: number; readonly count: number; readonly page: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowUp: from - 1,
    ArrowDown: from + 1,
    PageUp: from - page,
    PageDown: from + page,
    Home: 0,
    End: count - 1,
  };
  const to = steps[key];
  return to === undefined || count === 0 ? undefined : Math.min(Math.max(to, 0), count - 1);
}
