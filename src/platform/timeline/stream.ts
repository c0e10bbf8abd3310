import { type Clock, systemClock } from "../../core/clock.ts";
import type { Answer } from "../http/answer.ts";
import { integer } from "../http/query.ts";
import type { Incoming } from "../http/routes.ts";
import type { Timeline } from "./timeline.ts";

/** Interval between heartbeats on an idle stream. */
const HEARTBEAT_MS = 15_000;

const RETRY_MS = 500;

const encoder = new TextEncoder();

/**
 * Streams the timeline as server-sent events. Each reader has its own position and pulls entries at its own pace, so a
 * slow reader uses no extra memory. A reader that falls behind the oldest kept entry is disconnected. It detects the
 * gap when it reconnects.
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
      // Without this header, a proxy might buffer the stream and delay entries.
      "x-accel-buffering": "no",
    };
    return { status: 200, headers, body };
  }

  /**
   * Returns the entry after which the stream starts. For a `Last-Event-ID` from an earlier run, the stream starts at
   * the beginning of the timeline.
   */
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
    const news = new TimelineListener(this.#timeline, this.#clock, AbortSignal.any([gone, ended]));
    try {
      yield encoder.encode(`retry: ${RETRY_MS}\nevent: hello\ndata: ${hello}\n\n`);
      let place = Math.max(after, oldest - 1);
      while (!news.ended) {
        // The next entry for this reader has already been evicted.
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

class TimelineListener {
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

  takeChange(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /** Waits for an entry, a change or the end. Batches everything that happens in the same event loop iteration. */
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

/** Batch limits. A larger batch would block the event loop for too long. */
const MAX_ENTRIES = 500;
const MAX_LENGTH = 256 * 1024;

const MAX_CACHED_BATCHES = 16;

export interface Frames {
  readonly bytes: Buffer;
  readonly last: number;
}

/** Formats entries as server-sent events, once for all readers at the same position. */
class FramedTimeline {
  readonly #timeline: Timeline;
  /** Batches by the number of the entry before them. */
  readonly #batches = new Map<number, Frames>();

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  after(seq: number): Frames | undefined {
    const kept = this.#batches.get(seq);
    // The batch may lack newer entries, which follow in the next batch.
    if (kept !== undefined) return kept;
    const made = this.#make(seq);
    if (made === undefined) return undefined;
    this.#batches.set(seq, made);
    const [oldest] = this.#batches.keys();
    if (this.#batches.size > MAX_CACHED_BATCHES && oldest !== undefined)
      this.#batches.delete(oldest);
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
