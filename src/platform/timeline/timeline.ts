import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../../core/clock.ts";
import { PlatformError } from "../error.ts";
import type { TimelineEntry, TimelineRecord } from "./entries.ts";

const MAX_ENTRIES = 10_000;

/** Called with each new entry. */
export type TimelineListener = (entry: TimelineEntry) => void;

/** All activity on the platform, in order. The entries are kept in memory and lost when the process ends. */
export class Timeline {
  /** Random id that distinguishes this timeline's numbers from those of an earlier run. */
  readonly run: string = randomBytes(8).toString("hex");
  readonly #clock: Clock;
  readonly #listeners = new Set<TimelineListener>();
  readonly #watchers = new Set<() => void>();
  readonly #ended = new AbortController();
  #entries: TimelineEntry[] = [];
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of the newest entry, or 0 if there is none. */
  get last(): number {
    return this.#last;
  }

  /** Number of the oldest kept entry, or the next number if there are no entries. */
  get oldest(): number {
    return this.#last - Math.min(this.#entries.length, MAX_ENTRIES) + 1;
  }

  /** Aborts when the platform stops. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  add(record: TimelineRecord): void {
    this.#last += 1;
    const at = new Date(this.#clock.now()).toISOString();
    const entry: TimelineEntry = { seq: this.#last, at, ...record };
    this.#entries.push(entry);
    // Trim only at twice the limit, because a shift for each entry would move ten thousand elements.
    if (this.#entries.length > 2 * MAX_ENTRIES) this.#entries = this.#entries.slice(-MAX_ENTRIES);
    for (const listener of [...this.#listeners]) this.#notify(listener, entry);
  }

  /** Returns up to `limit` kept entries after `seq`, oldest first. */
  after(seq: number, limit: number = MAX_ENTRIES): TimelineEntry[] {
    const kept = this.#entries.length;
    const begin = Math.max(seq - (this.#last - kept), kept - MAX_ENTRIES, 0);
    return this.#entries.slice(begin, begin + limit);
  }

  /** Returns an unsubscribe function. */
  listen(listener: TimelineListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Announces a change that may have no entry, such as a deleted message. */
  change(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Returns an unsubscribe function. */
  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * Like `after`, but waits up to `waitMs` if there is no entry yet. Returns immediately for a `seq` above the newest
   * number, because it must come from an earlier run.
   */
  async waitAfter(seq: number, waitMs: number, gone: AbortSignal): Promise<TimelineEntry[]> {
    if (seq === this.#last && waitMs > 0) await this.#next(waitMs, gone);
    return this.after(seq);
  }

  end(): void {
    this.#ended.abort();
    this.#listeners.clear();
    this.#watchers.clear();
  }

  #notify(listener: TimelineListener, entry: TimelineEntry): void {
    try {
      listener(entry);
    } catch (error) {
      // Throw in a microtask, because a listener's error must not stop the platform.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #next(waitMs: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const signal = AbortSignal.any([gone, this.ended]);
      const done = () => {
        cancel();
        ignore();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const ignore = this.listen(done);
      // The client waits in real time, even if the platform uses another clock.
      const cancel = systemClock.timer(waitMs, done);
      signal.addEventListener("abort", done, { once: true });
      if (signal.aborted) done();
    });
  }
}

/** Timeline entries of one kind. */
export type EntryOf<K extends TimelineRecord["kind"]> = Extract<TimelineEntry, { kind: K }>;

export interface WaitOptions {
  /** Ignores entries up to this number. Default 0, which includes past entries. */
  readonly after?: number | undefined;
  /** Timeout in real time, in ms. Default 10,000. */
  readonly timeoutMs?: number | undefined;
}

/** Number of recent entries to include in a timeout error. */
const SHOWN = 10;

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
      const message = `${why} before a matching ${kind} entry arrived. ${recent(timeline)}`;
      reject(new PlatformError(408, "TIMEOUT", message));
    };
    const stopped = () => fail("The platform stopped");
    // A test waits in real time, even if it moves the platform's clock.
    const cancel = systemClock.timer(timeoutMs, () => fail(`${timeoutMs} ms passed`));
    timeline.ended.addEventListener("abort", stopped, { once: true });
    if (timeline.ended.aborted) stopped();
  });
}

/** Lists the newest entries without user texts, because the error may end up in a log. */
function recent(timeline: Timeline): string {
  const entries = timeline.after(Math.max(timeline.last - SHOWN, 0));
  if (entries.length === 0) return "Nothing has happened so far.";
  const lines = entries.map((entry) =>
    JSON.stringify(entry, (key, value: unknown) => (key === "text" ? undefined : value)),
  );
  return `The newest entries:\n${lines.join("\n")}`;
}
