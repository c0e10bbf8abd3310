import { wordsOf } from "../../../timeline/words.ts";
import type { TimelineEntry } from "../../../types.ts";
import { eventIdsOf, type Index } from "./index-of.ts";
import { addressedAs, isRead, marksOf } from "./lines.ts";

export interface Filter {
  /** Words that an entry must have, all of them. Empty: every entry. */
  readonly text: string;
  /** True to include requests that read and found no events, and runs that have ended well. */
  readonly reads: boolean;
}

/** Selects the entries that fit, in their order. */
export function select(
  entries: readonly TimelineEntry[],
  { text, reads }: Filter,
  index: Index,
): readonly TimelineEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    if (!reads && isRead(entry)) return false;
    if (words.length === 0) return true;
    const searched = searchTextOf(entry, index);
    return words.every((word) => searched.includes(word));
  });
}

/** An entry is found by its line, its ids, its marks, and the type and the person of the events that it is about. */
function searchTextOf(entry: TimelineEntry, index: Index): string {
  const ids = eventIdsOf(entry);
  const stories = ids.flatMap((id) => {
    const story = index.get(id);
    return story === undefined ? [] : [story.type, `@${story.from}`];
  });
  const marks = marksOf(entry, index).map(({ text }) => text);
  const created = entry.kind === "api" ? Object.values(entry.created ?? {}) : [];
  const bot = "bot" in entry ? [`@${entry.bot}`] : [];
  const parts = [entry.kind, wordsOf(entry), addressedAs(entry), ...ids, ...stories, ...marks];
  return [...parts, ...created, ...bot].join(" ").toLowerCase();
}
