import type { Timeline } from "./timeline.ts";

/** How much is written at a time: more would hold up everybody else. */
const MAX_ENTRIES = 500;
const MAX_LENGTH = 256 * 1024;

/** How many batches are kept for the next reader who asks for the same. */
const MAX_KEPT = 16;

/** Some entries as they go over the wire. */
export interface Frames {
  readonly bytes: Buffer;
  /** The number of the last entry of them. */
  readonly last: number;
}

/** The timeline as Server-Sent Events: made once for all who are at the same place. */
export class FramedTimeline {
  readonly #timeline: Timeline;
  /** By the number that they come after. */
  readonly #kept = new Map<number, Frames>();

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** The next entries after `seq`; undefined when there are none. */
  after(seq: number): Frames | undefined {
    const kept = this.#kept.get(seq);
    // More may have come since; that comes after it.
    if (kept !== undefined) return kept;
    const made = this.#make(seq);
    if (made === undefined) return undefined;
    this.#kept.set(seq, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return made;
  }

  #make(seq: number): Frames | undefined {
    const { run } = this.#timeline;
    const entries = this.#timeline.after(seq, MAX_ENTRIES);
    let text = "";
    let last: number | undefined;
    for (const entry of entries) {
      text += `id: ${run}.${entry.seq}\ndata: ${JSON.stringify(entry)}\n\n`;
      last = entry.seq;
      if (text.length >= MAX_LENGTH) break;
    }
    if (last === undefined) return undefined;
    return { bytes: Buffer.from(text), last };
  }
}
