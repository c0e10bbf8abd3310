import { systemClock } from "../../core/clock.ts";
import type { TimelineEntry, TimelineRecord } from "./entries.ts";
import type { Timeline } from "./timeline.ts";

/** Entries of one kind. */
export type EntryOf<K extends TimelineRecord["kind"]> = Extract<TimelineEntry, { kind: K }>;

/** What is waited for, and how long. */
export interface WaitOptions {
  /** Entries up to this number do not count. Default 0: what has happened already does. */
  readonly after?: number | undefined;
  /** Milliseconds of real time. Default 10,000. */
  readonly timeoutMs?: number | undefined;
}

/** How many entries the error of a wait in vain shows. */
const SHOWN = 10;

/** Resolves to the first entry of this kind that fits, be it there already or still to come. */
export function awaitEntry<K extends TimelineRecord["kind"]>(
  timeline: Timeline,
  kind: K,
  fits: (entry: EntryOf<K>) => boolean,
  { after = 0, timeoutMs = 10_000 }: WaitOptions = {},
): Promise<EntryOf<K>> {
  const matches = (entry: TimelineEntry): entry is EntryOf<K> =>
    entry.kind === kind && fits(entry as EntryOf<K>);
  const found = timeline.after(after).find(matches);
  if (found !== undefined) return Promise.resolve(found);
  return new Promise((resolve, reject) => {
    const end = () => {
      cancel();
      ignore();
      timeline.ended.removeEventListener("abort", stopped);
    };
    const ignore = timeline.listen((entry) => {
      if (entry.seq <= after || !matches(entry)) return;
      end();
      resolve(entry);
    });
    const fail = (why: string) => {
      end();
      reject(new Error(`${why} before a fitting ${kind} entry came. ${recent(timeline)}`));
    };
    const stopped = () => fail("The platform stopped");
    // A test waits in real time, even where it turns the platform's clock by hand.
    const cancel = systemClock.timer(timeoutMs, () => fail(`${timeoutMs} ms passed`));
    timeline.ended.addEventListener("abort", stopped, { once: true });
    if (timeline.ended.aborted) stopped();
  });
}

/** The newest entries without what people wrote: the error may end up in a log. */
function recent(timeline: Timeline): string {
  const entries = timeline.after(Math.max(timeline.last - SHOWN, 0));
  if (entries.length === 0) return "Nothing has happened so far.";
  const lines = entries.map((entry) =>
    JSON.stringify(entry, (key, value: unknown) => (key === "text" ? undefined : value)),
  );
  return `The newest entries:\n${lines.join("\n")}`;
}
