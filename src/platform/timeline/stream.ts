import { type Clock, systemClock } from "../../core/clock.ts";
import type { Answer } from "../http/answer.ts";
import { integer } from "../http/query.ts";
import type { Incoming } from "../http/routes.ts";
import type { Timeline } from "./timeline.ts";

/** How often a quiet stream shows that it is alive, in ms. */
const HEARTBEAT_MS = 15_000;

/** How long a reader that was cut waits before it comes back, in ms. */
const RETRY_MS = 500;

const encoder = new TextEncoder();

/**
 * The timeline as Server-Sent Events. Each reader is at a place of its own and pulls what it can take, so that a slow
 * one costs no memory. One that falls behind what the timeline keeps is cut, and sees that when it comes back.
 */
export class TimelineStream {
  readonly #timeline: Timeline;
  readonly #clock: Clock;
  readonly #frames: FramedTimeline;

  constructor(timeline: Timeline, clock: Clock = systemClock) {
    this.#timeline = timeline;
    this.#clock = clock;
    this.#frames = new FramedTimeline(timeline);
  }

  answer({ request, url, gone }: Incoming): Answer {
    const after = this.#beginning(request, url);
    const body = request.method === "HEAD" ? null : streamOf(this.#read(after, gone));
    const headers = {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // A proxy that gathers what comes would hold it back.
      "x-accel-buffering": "no",
    };
    return { status: 200, headers, body };
  }

  /** Returns the entry after which the stream begins. That of an earlier run means nothing here. */
  #beginning({ headers }: Request, { searchParams }: URL): number {
    const { run, last } = this.#timeline;
    const max = Number.MAX_SAFE_INTEGER;
    const after = integer(searchParams, "after", { min: 0, max, fallback: 0 });
    const known = headers.get("last-event-id") ?? "";
    if (known === "") return after > last ? 0 : after;
    const [, of, seq] = /^(\w+)\.(\d{1,15})$/.exec(known) ?? [];
    return of === run && Number(seq) <= last ? Number(seq) : 0;
  }

  async *#read(after: number, gone: AbortSignal): AsyncGenerator<Uint8Array> {
    const { run, last, oldest, ended } = this.#timeline;
    const hello = JSON.stringify({ run, last, oldest });
    const news = new News(this.#timeline, this.#clock, AbortSignal.any([gone, ended]));
    try {
      yield encoder.encode(`retry: ${RETRY_MS}\nevent: hello\ndata: ${hello}\n\n`);
      let place = Math.max(after, oldest - 1);
      while (!news.ended) {
        // The next entry for this reader is no longer there.
        if (place + 1 < this.#timeline.oldest) throw new Error("The reader is too slow");
        const frames = this.#frames.after(place);
        if (frames !== undefined) {
          place = frames.last;
          yield frames.bytes;
        } else if (news.takeChange()) {
          yield encoder.encode("event: changed\ndata: {}\n\n");
        } else if ((await news.next()) === "silence") {
          yield encoder.encode(":\n\n");
        }
      }
    } finally {
      news.close();
    }
  }
}

/** Makes a stream that asks for the next part when its reader does. */
function streamOf(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Lets a reader that has every entry wait for the next. */
class News {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #ignore: readonly (() => void)[];
  #changed = false;
  #wake: () => void = () => {};

  constructor(timeline: Timeline, clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    const onEnd = () => this.#wake();
    signal.addEventListener("abort", onEnd);
    this.#ignore = [
      timeline.listen(() => this.#wake()),
      timeline.onChange(() => {
        this.#changed = true;
        this.#wake();
      }),
      () => signal.removeEventListener("abort", onEnd),
    ];
  }

  get ended(): boolean {
    return this.#signal.aborted;
  }

  /** Returns whether something has changed since the last call. */
  takeChange(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /** Waits for an entry, a change or the end. What happens in one turn is news together. */
  async next(): Promise<"news" | "silence"> {
    const { promise, resolve } = Promise.withResolvers<"news" | "silence">();
    const cancel = this.#clock.timer(HEARTBEAT_MS, () => resolve("silence"), { background: true });
    this.#wake = () => void setImmediate(resolve, "news");
    if (this.ended || this.#changed) this.#wake();
    try {
      return await promise;
    } finally {
      cancel();
      this.#wake = () => {};
    }
  }

  close(): void {
    for (const ignore of this.#ignore) ignore();
  }
}

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
class FramedTimeline {
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
