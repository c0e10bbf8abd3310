import type { RunEntry, TimelineEntry } from "../../../types.ts";
import type { Tone } from "../../parts/bits.tsx";
import type { EventOutcome, Index, Story } from "./index-of.ts";

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

/** Describes the outcome of a run: a delivery that was taken is no success until the handler has ended well. */
export function markOfRun({ attempt, outcome, retryInMs }: RunEntry): Mark {
  const next = retryInMs === undefined ? "" : `, next in ${Math.ceil(retryInMs / 1_000)} s`;
  switch (outcome) {
    case "done":
      return { tone: "good", text: "handled" };
    case "retry":
      return { tone: "bad", text: `handler failed: attempt ${attempt}${next}` };
    case "released":
      return { tone: "warn", text: `put off${next}` };
    case "dead":
      return { tone: "bad", text: `dead: attempt ${attempt} failed` };
  }
}

/** Describes what became of an event: its newest run, or else its deliveries. */
function markOfStory(story: Story | undefined): Mark {
  return story?.run === undefined ? markOfEvent(story?.outcome ?? "waiting") : markOfRun(story.run);
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
      return [markOfStory(index.get(entry.id))];
    case "delivery":
      return [...marks, markOfDelivery(entry)];
    case "api":
      return [...marks, markOfCall(entry)];
    case "run":
      return [markOfRun(entry)];
    default:
      return [{ tone: changed[entry.change] ?? "plain", text: entry.change }];
  }
}

/** Returns whether an entry is hidden by default: a read that brought no event, or a run that its event's line shows. */
export function isRead(entry: TimelineEntry): boolean {
  if (entry.kind === "run") return entry.outcome === "done";
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
