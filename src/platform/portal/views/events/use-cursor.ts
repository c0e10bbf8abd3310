import { useState } from "preact/hooks";
import type { TimelineEntry } from "../../api/shapes.ts";
import { moved, placeOf } from "./lines.ts";

export interface Cursor {
  /** Where it stands; undefined before it was set. */
  readonly at: number | undefined;
  /** Sets it on an entry. */
  readonly set: (entry: TimelineEntry) => void;
  /** Where a key leads; it is there from then on. */
  readonly press: (key: string, page: number) => number | undefined;
}

/** Which of the lines the keys are about. It stays on its entry while others come and go. */
export function useCursor(lines: readonly TimelineEntry[]): Cursor {
  const [seq, setSeq] = useState<number>();
  const count = lines.length;
  const at =
    seq === undefined || count === 0 ? undefined : Math.min(placeOf(lines, seq), count - 1);
  const set = (entry: TimelineEntry) => setSeq(entry.seq);
  const press = (key: string, page: number) => {
    // Before the first key, it stands below the newest.
    const to = moved(key, { from: at ?? count, count, page });
    const entry = to === undefined ? undefined : lines[to];
    if (entry !== undefined) set(entry);
    return to;
  };
  return { at, set, press };
}
