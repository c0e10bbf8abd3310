import { type LogPurpose, NetworkError, RequestLimiter } from "../../faces/client.ts";
import { type Clock, sleep } from "../../faces/core.ts";
import type { Random } from "../../faults/random.ts";

export interface HandlersOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly perMinute: number;
  readonly call: (signal: AbortSignal) => Promise<void>;
  /** Events without a reply. Handlers remove the events they reply to. */
  readonly unanswered: Set<string>;
}

/** A bot's request budget, and the handlers that share it. Each reply costs a read and a write. */
export class Handlers {
  readonly #options: HandlersOptions;
  readonly #limiter: RequestLimiter;
  readonly #stopping = new AbortController();

  constructor(options: HandlersOptions) {
    const { clock, random, perMinute, unanswered } = options;
    this.#options = options;
    this.#limiter = new RequestLimiter({ clock, random: random.next, perMinute });
    for (const id of unanswered) this.answer(id);
  }

  answer(id: string): void {
    this.#options.unanswered.add(id);
    this.#untilAnswered(id).catch(() => undefined);
  }

  async share<T>(purpose: LogPurpose, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    const permit = await this.#limiter.take(purpose, signal);
    return await read().finally(() => permit.end());
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #untilAnswered(id: string): Promise<void> {
    const { clock, random, unanswered } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#request("read");
        await this.#request("write");
        unanswered.delete(id);
        return;
      } catch (error) {
        if (!(error instanceof NetworkError)) throw error;
        await sleep(clock, (error.retryAfterMs ?? 0) + random.below(1_000), signal);
      }
    }
  }

  async #request(kind: "read" | "write"): Promise<void> {
    const { signal } = this.#stopping;
    const permit = await this.#limiter.take(kind, signal);
    await this.#options.call(signal).finally(() => permit.end());
  }
}
