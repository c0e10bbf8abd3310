import { answer } from "../harness/child.ts";
import { monotonicNow } from "../support/clock.ts";
import { Connection } from "../support/connection.ts";
import { formats } from "../support/formats.ts";
import { frame } from "../support/frame.ts";

/** Deliveries of one event each, at their times, whatever has become of those before. */
export interface OpenLoad {
  /** Origin, `http:` alone. */
  readonly url: string;
  /** The number of the first event; the others follow. */
  readonly from: number;
  readonly count: number;
  /** Deliveries per second, evenly spread; absent, all are due at once. */
  readonly rate?: number;
  readonly connections: number;
}

/** Times in milliseconds, one for each delivery in the order of the numbers. */
export interface OpenLoadResult {
  /** From the time that it was due until its answer had been read. */
  readonly acknowledged: readonly number[];
  /** When its last byte had been handed to the socket, on `monotonicNow`. */
  readonly sent: readonly number[];
  /** From the time that it was due until then. */
  readonly late: readonly number[];
  /** From the first that was due to the last answer. */
  readonly ms: number;
}

/** A schedule that waits for nobody: where no connection is free, the wait belongs to the delivery. */
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

  /** @throws {Error} an answer is not 200 to 299 */
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

  /** Timers are good to a millisecond. This looks as often as the loop turns. */
  #tick(): void {
    this.#sendDue();
    if (this.#open > 0 && this.#sent.length < this.#frames.length) setImmediate(() => this.#tick());
  }

  #sendDue(): void {
    for (;;) {
      const nth = this.#sent.length;
      const bytes = this.#frames[nth];
      if (bytes === undefined || this.#due(nth) > monotonicNow()) return;
      // In turn, so that each connection is used.
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
  /** Makes, signs and sends them. Rejects when an answer is not 200 to 299. */
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
