import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { constants, setPriority } from "node:os";
import { sign } from "../../src/signature/signature.ts";
import { answer } from "../harness/child.ts";
import { monotonicNow } from "../support/clock.ts";
import { deliveryFrame } from "../support/frame.ts";

/** Deliveries of one event each, at their times whatever becomes of those before. */
export interface OpenLoad {
  /** Origin and path, `http:` alone. */
  readonly url: string;
  readonly secret: string;
  /** The number of the first event; the others follow. */
  readonly first: number;
  readonly count: number;
  /** Deliveries per second, evenly spread; without it all are due at once. */
  readonly rate?: number;
  readonly connections: number;
}

/** Times in milliseconds, one for each delivery in the order of the numbers. */
export interface OpenLoadResult {
  /** From the time that it was due until the answer had been read. */
  readonly acknowledged: readonly number[];
  /** When its last byte had been handed to the socket, on `monotonicNow`. */
  readonly sent: readonly number[];
  /** How long after it was due. */
  readonly late: readonly number[];
  /** From the first that was due to the last answer. */
  readonly ms: number;
}

/** Where a delivery waits for a connection, that counts as its own time: nobody leaves it out. */
class Run {
  readonly #frames: readonly Buffer[];
  readonly #interval: number;
  readonly #idle: Line[];
  readonly #acknowledged: Float64Array;
  readonly #sent: Float64Array;
  readonly #late: Float64Array;
  readonly #end: (error?: Error) => void;
  readonly #began: number;
  #next = 0;
  #answers = 0;

  constructor(
    frames: readonly Buffer[],
    rate: number,
    lines: readonly Line[],
    end: (error?: Error) => void,
  ) {
    this.#frames = frames;
    this.#interval = 1000 / rate;
    this.#idle = [...lines];
    this.#acknowledged = new Float64Array(frames.length);
    this.#sent = new Float64Array(frames.length);
    this.#late = new Float64Array(frames.length);
    this.#end = end;
    // Somewhat later, so that the first one is not late already.
    this.#began = monotonicNow() + 5;
    for (const line of lines) line.run = this;
    this.#tick();
  }

  answered(line: Line): void {
    const now = monotonicNow();
    this.#acknowledged[line.nth] = now - this.#due(line.nth);
    this.#idle.push(line);
    this.#answers += 1;
    if (this.#answers === this.#frames.length) this.#end();
    else this.#sendDue();
  }

  failed(error: Error): void {
    this.#next = this.#frames.length;
    this.#end(error);
  }

  result(): OpenLoadResult {
    const ends = this.#acknowledged.map((ms, nth) => this.#due(nth) + ms);
    return {
      acknowledged: [...this.#acknowledged],
      sent: [...this.#sent],
      late: [...this.#late],
      ms: ends.reduce((a, b) => Math.max(a, b), 0) - this.#began,
    };
  }

  /** Timers are good to a millisecond; this looks as often as the loop turns, and keeps a core busy. */
  #tick(): void {
    this.#sendDue();
    if (this.#next < this.#frames.length) setImmediate(() => this.#tick());
  }

  #sendDue(): void {
    while (this.#next < this.#frames.length) {
      const due = this.#due(this.#next);
      const frame = this.#frames[this.#next];
      if (frame === undefined || due > monotonicNow()) return;
      // In turn, so that every connection is used.
      const line = this.#idle.shift();
      if (line === undefined) return;
      line.send(this.#next, frame);
      const now = monotonicNow();
      this.#sent[this.#next] = now;
      this.#late[this.#next] = now - due;
      this.#next += 1;
    }
  }

  #due(nth: number): number {
    return this.#began + nth * this.#interval;
  }
}

/** A connection that is kept, with one delivery under way at most. */
class Line {
  readonly #socket: Socket;
  #received = "";
  /** Which delivery is under way. */
  nth = -1;
  run: Run | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text) => this.#take(String(text)));
    socket.on("error", (error) => this.run?.failed(error));
    socket.on("close", () => this.run?.failed(new Error("the server closed a connection")));
  }

  send(nth: number, frame: Buffer): void {
    this.nth = nth;
    this.#socket.write(frame);
  }

  close(): void {
    this.run = undefined;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const head = this.#received.indexOf("\r\n\r\n");
    if (head === -1) return;
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(this.#received) ?? [];
    if (!this.#received.startsWith("HTTP/1.1 2") || length === undefined) {
      this.run?.failed(new Error(`unexpected answer: ${this.#received.slice(0, 500)}`));
      return;
    }
    if (this.#received.length < head + 4 + Number(length)) return;
    this.#received = "";
    this.run?.answered(this);
  }
}

/** @throws {Error} an answer is not 200 to 299 */
async function run(load: OpenLoad): Promise<OpenLoadResult> {
  const { url, secret, first, count, rate = Number.POSITIVE_INFINITY, connections } = load;
  const target = new URL(url);
  const seconds = Date.now() / 1000;
  const frames = Array.from({ length: count }, (_, nth) =>
    deliveryFrame(target, first + nth, (body) => sign(body, secret, seconds)),
  );
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(target)));
  try {
    let finished: Run | undefined;
    await new Promise<void>((resolve, reject) => {
      const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
      finished = new Run(frames, rate, lines, end);
    });
    if (finished === undefined) throw new Error("nothing was run");
    return finished.result();
  } finally {
    for (const line of lines) line.close();
  }
}

async function openLine({ hostname, port }: URL): Promise<Line> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  return new Line(socket);
}

const handlers: { readonly run: typeof run; readonly now: () => number } = {
  run,
  now: monotonicNow,
};

export type OpenLoadProcess = typeof handlers;

// It is always busy: where cores are few, what is measured goes first.
setPriority(constants.priority.PRIORITY_LOW);

answer(handlers);
