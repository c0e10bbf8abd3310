import type { ServerResponse } from "node:http";
import type { Request } from "express";
import { type Clock, systemClock } from "../../core/clock.ts";
import { integer } from "../http/query.ts";
import { FramedTimeline } from "../timeline/frames.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Endpoints } from "./endpoint.ts";

/** How often a quiet stream shows that it is alive, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/** How long a reader that was cut waits before it comes back, in milliseconds. */
const RETRY_MS = 500;

interface Reader {
  readonly response: ServerResponse;
  /** The number of the last entry that was written to it. */
  last: number;
  /** True while it has not taken what was written to it. */
  full: boolean;
}

/** The timeline for those who stay. */
export function streamEndpoints(timeline: Timeline, clock?: Clock): Endpoints {
  const stream = new TimelineStream(timeline, clock);
  return {
    "/stream": {
      get: (request, response) => {
        const after = beginning(timeline, request);
        response.set({
          "Content-Type": "text/event-stream",
          "Cache-Control": "no-store",
          // A proxy that gathers what comes would hold it back.
          "X-Accel-Buffering": "no",
        });
        response.flushHeaders();
        if (request.method === "HEAD") response.end();
        else stream.add(response, after);
      },
    },
  };
}

/** After which entry it begins: that of an earlier run says nothing about this one. */
function beginning({ run, last }: Timeline, { headers, query }: Request): number {
  const max = Number.MAX_SAFE_INTEGER;
  const after = integer(query, "after", { min: 0, max, fallback: 0 });
  const known = headers["last-event-id"];
  if (known === undefined || known === "") return after > last ? 0 : after;
  const [, of, seq] = /^(\w+)\.(\d{1,15})$/.exec(String(known)) ?? [];
  return of === run && Number(seq) <= last ? Number(seq) : 0;
}

/**
 * Writes what happens to everybody who listens. Each reader is at a place of its own and gets what it can take, so that
 * a slow one costs no memory; one that falls behind what the timeline keeps is cut, and learns so when it comes back.
 */
class TimelineStream {
  readonly #timeline: Timeline;
  readonly #clock: Clock;
  readonly #frames: FramedTimeline;
  readonly #readers = new Set<Reader>();
  #scheduled = false;
  #changed = false;
  #ignore: readonly (() => void)[] = [];
  #cancelBeat: () => void = () => {};

  constructor(timeline: Timeline, clock: Clock = systemClock) {
    this.#timeline = timeline;
    this.#clock = clock;
    this.#frames = new FramedTimeline(timeline);
    timeline.ended.addEventListener("abort", () => {
      for (const { response } of this.#readers) response.end();
    });
  }

  add(response: ServerResponse, after: number): void {
    if (this.#timeline.ended.aborted || response.destroyed) {
      response.end();
      return;
    }
    const { run, last, oldest } = this.#timeline;
    const reader = { response, last: Math.max(after, oldest - 1), full: false };
    if (this.#readers.size === 0) this.#begin();
    this.#readers.add(reader);
    response.on("close", () => this.#remove(reader));
    const hello = JSON.stringify({ run, last, oldest });
    response.write(`retry: ${RETRY_MS}\nevent: hello\ndata: ${hello}\n\n`);
    this.#feed(reader);
  }

  #begin(): void {
    this.#ignore = [
      this.#timeline.listen(() => this.#schedule()),
      this.#timeline.onChange(() => {
        this.#changed = true;
        this.#schedule();
      }),
    ];
    this.#beatLater();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    for (const ignore of this.#ignore) ignore();
    this.#cancelBeat();
  }

  /** All that happens in one turn goes out together. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      for (const reader of this.#readers) this.#feed(reader);
      if (this.#changed) this.#tellChange();
    });
  }

  /** After the entries. One that has not taken them yet will look for itself when it has. */
  #tellChange(): void {
    this.#changed = false;
    for (const { response } of this.#readers) response.write("event: changed\ndata: {}\n\n");
  }

  #feed(reader: Reader): void {
    const { response } = reader;
    while (!reader.full && !response.writableEnded && !response.destroyed) {
      const frames = this.#frames.after(reader.last);
      if (frames === undefined) return;
      reader.last = frames.last;
      if (response.write(frames.bytes)) continue;
      reader.full = true;
      response.once("drain", () => {
        reader.full = false;
        this.#feed(reader);
      });
    }
    // The next entry that it would get is not there any more.
    if (reader.full && reader.last + 1 < this.#timeline.oldest) response.destroy();
  }

  #beatLater(): void {
    const beat = () => {
      for (const { response, full } of this.#readers) if (!full) response.write(":\n\n");
      this.#beatLater();
    };
    this.#cancelBeat = this.#clock.timer(HEARTBEAT_MS, beat, { background: true });
  }
}
