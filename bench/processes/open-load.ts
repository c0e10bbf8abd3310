import { answer } from "../harness/child.ts";
import { monotonicNow } from "../support/clock.ts";
import { Connection } from "../support/connection.ts";
import { formats } from "../support/formats.ts";
import { frame } from "../support/frame.ts";

/** Deliveries of one event each. They follow a fixed schedule, so slow responses do not delay the next delivery. */
export interface OpenLoad {
  /** Origin of the receiver, which must use `http:`. */
  readonly url: string;
  /** Number of the first event. Later events count up. */
  readonly from: number;
  readonly count: number;
  /** Deliveries per second, evenly spaced. If absent, all are due at once. */
  readonly rate?: number;
  readonly connections: number;
}

/** Times in ms, one per delivery, sorted by event number. */
export interface OpenLoadResult {
  /** From the due time until the response was read. */
  readonly acknowledged: readonly number[];
  /** When the last byte was written to the socket, on the `monotonicNow` clock. */
  readonly sent: readonly number[];
  /** From the due time until the last byte was written. */
  readonly late: readonly number[];
  /** Time from the first due time to the last response. */
  readonly ms: number;
}

/** Sends on schedule. If no connection is free, the wait counts towards the delivery's latency. */
class Schedule {
  readonly #frames: readonly Buffer[];
  readonly #idle: Connection[];
  readonly #interval: number;
  readonly #began: number;
  readonly #sent: number[] = [];
  readonly #answered: number[] = [];
  readonly #done: PromiseWithResolvers<void> = Promise.withResolvers();
  #open: number;

  constructor(frames: readonly Buffer[], connections: readonly Connection[], rate: number) {
    this.#frames = frames;
    this.#idle = [...connections];
    this.#interval = 1000 / rate;
    this.#began = monotonicNow();
    this.#open = frames.length;
  }

  /** @throws {Error} if a response is not 2xx */
  async run(): Promise<OpenLoadResult> {
    this.#tick();
    await this.#done.promise;
    return {
      acknowledged: this.#answered.map((at, nth) => at - this.#due(nth)),
      sent: this.#sent,
      late: this.#sent.map((at, nth) => at - this.#due(nth)),
      ms: monotonicNow() - this.#began,
    };
  }

  /** Uses `setImmediate` because timers are only accurate to 1 ms. */
  #tick(): void {
    this.#sendDue();
    if (this.#open > 0 && this.#sent.length < this.#frames.length) setImmediate(() => this.#tick());
  }

  #sendDue(): void {
    for (;;) {
      const nth = this.#sent.length;
      const bytes = this.#frames[nth];
      if (bytes === undefined || this.#due(nth) > monotonicNow()) return;
      // Round-robin, so that every connection is used.
      const connection = this.#idle.shift();
      if (connection === undefined) return;
      connection.send(bytes, (error) => this.#settle(nth, connection, error));
      this.#sent.push(monotonicNow());
    }
  }

  #settle(nth: number, connection: Connection, error?: Error): void {
    this.#answered[nth] = monotonicNow();
    this.#idle.push(connection);
    this.#open -= 1;
    if (error !== undefined) {
      this.#open = 0;
      this.#done.reject(error);
    } else if (this.#open === 0) this.#done.resolve();
    else this.#sendDue();
  }

  #due(nth: number): number {
    return this.#began + nth * this.#interval;
  }
}

const handlers = {
  /** Signs the deliveries, then sends them. Rejects if a response is not 2xx. */
  run: async (load: OpenLoad): Promise<OpenLoadResult> => {
    const { url, from, count, rate = Number.POSITIVE_INFINITY } = load;
    const { host } = new URL(url);
    const frames = Array.from({ length: count }, (_, nth) =>
      frame(formats.service(from + nth, 1), host),
    );
    const connections = await Promise.all(
      Array.from({ length: load.connections }, () => Connection.open(url)),
    );
    try {
      return await new Schedule(frames, connections, rate).run();
    } finally {
      for (const connection of connections) connection.close();
    }
  },
  now: (): number => monotonicNow(),
};

export type OpenLoadProcess = typeof handlers;

answer(handlers);
