import type { RunEntry, TimelineEntry } from "../../api/shapes.ts";
import { eventTypes } from "../webhook/event-types.ts";
import { eventIdsOf, type Index } from "./index-of.ts";
import { isRead, searchTextOf } from "./lines.ts";

export const kinds = [
  "event",
  "delivery",
  "api",
  "run",
  "webhook",
  "app",
  "fault",
  "state",
] as const;
export const outcomes = ["delivered", "failed", "waiting", "fault"] as const;

/** What is looked for. An empty text stands for everything. */
export interface Filter {
  /** A type of events: they, their deliveries and the calls that were made because of them. */
  readonly type: string;
  /** The username of who brought it about. */
  readonly person: string;
  readonly outcome: string;
  readonly kind: string;
  /** Words, all of which are in it. */
  readonly text: string;
  /** Whether requests that read and found no events are shown. */
  readonly reads: boolean;
}

export const everything: Filter = {
  type: "",
  person: "",
  outcome: "",
  kind: "",
  text: "",
  reads: false,
};

/** A filter as a text to be kept: `type=dm.message&reads=1`. */
export function textOf(filter: Filter): string {
  const given = Object.entries(filter).flatMap(([name, value]) =>
    value === "" || value === false ? [] : [[name, value === true ? "1" : String(value)]],
  );
  return String(new URLSearchParams(given));
}

/** The filter that was kept. What nobody could choose is left out, for it could not be seen either. */
export function filterOf(text: string): Filter {
  const kept = new URLSearchParams(text);
  const get = (name: string) => kept.get(name) ?? "";
  const known = (name: string, values: readonly string[]) =>
    values.includes(get(name)) ? get(name) : "";
  return {
    type: get("type"),
    person: get("person"),
    outcome: known("outcome", outcomes),
    kind: known("kind", kinds),
    text: get("text"),
    reads: get("reads") === "1",
  };
}

/** Whether anything is looked for. */
export function isNarrow(filter: Filter): boolean {
  return textOf({ ...filter, reads: false }) !== "";
}

/** The entries that fit, in their order. */
export function select(
  entries: readonly TimelineEntry[],
  filter: Filter,
  index: Index,
): readonly TimelineEntry[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    if (!filter.reads && isRead(entry)) return false;
    if (filter.kind !== "" && entry.kind !== filter.kind) return false;
    if (filter.outcome !== "" && !hasOutcome(entry, filter.outcome, index)) return false;
    if (!isAbout(entry, filter, index)) return false;
    return words.length === 0 || words.every((word) => searchTextOf(entry).includes(word));
  });
}

function isAbout(entry: TimelineEntry, { type, person }: Filter, index: Index): boolean {
  if (type === "" && person === "") return true;
  return eventIdsOf(entry).some((id) => {
    const story = index.get(id);
    if (story === undefined) return false;
    return (type === "" || story.type === type) && (person === "" || story.from === person);
  });
}

function hasOutcome(entry: TimelineEntry, wanted: string, index: Index): boolean {
  if (wanted === "fault") {
    return entry.kind === "fault" || "fault" in entry || "lateMs" in entry;
  }
  return simpleOutcome(entry, index) === wanted;
}

function simpleOutcome(entry: TimelineEntry, index: Index): string | undefined {
  switch (entry.kind) {
    case "event": {
      const { outcome, run } = index.get(entry.id) ?? { outcome: "waiting" };
      if (run !== undefined) return outcomeOfRun(run);
      return outcome === "read" ? "delivered" : outcome;
    }
    case "delivery":
      return entry.error === undefined ? "delivered" : "failed";
    case "api":
      return entry.status !== null && entry.status < 400 ? "delivered" : "failed";
    case "run":
      return outcomeOfRun(entry);
    default:
      return undefined;
  }
}

function outcomeOfRun({ outcome }: RunEntry): string {
  return outcome === "done" ? "delivered" : "failed";
}

/** The types that one can choose: those of the document, those that were seen, and the one that is chosen. */
export function typesOf(index: Index, chosen: string): readonly string[] {
  const known = eventTypes.map(({ type }) => type);
  const seen = [...index.values()].map(({ type }) => type);
  return [...new Set([...known, ...seen, chosen])].filter(Boolean);
}

/** The people that one can choose, by name. */
export function peopleOf(index: Index, chosen: string): readonly string[] {
  const seen = [...index.values()].map(({ from }) => from);
  return [...new Set([...seen, chosen])].filter(Boolean).sort();
}
