import type { Samples } from "../harness/benchmark.ts";
import { Child, type Handlers } from "../harness/child.ts";
import type { Face, ReceiverProcess } from "../processes/receiver.ts";
import type { Sender } from "../processes/sender.ts";
import type { FormatName } from "./formats.ts";
import { perSecond } from "./rate.ts";

/** As many as a platform that is busy keeps open. */
const CONNECTIONS = 64;

/** A server that takes webhooks, and whose they are. */
export interface Taker {
  readonly url: string;
  readonly format: FormatName;
  /** Does what was put off until later, within the time. */
  finish(): Promise<unknown>;
  /** Resolves when nothing of what it took is still at work. */
  settle(): Promise<unknown>;
  close(): Promise<unknown>;
}

/** Sends every request once and no event twice: nothing is signed or made while it is timed, and nothing repeated. */
export class Ingest {
  readonly #sender = new Child<Sender>("processes/sender.ts");
  readonly #takers: Taker[] = [];
  #sent = 0;

  /** Our own receiver with an inbox on the disk. */
  async ours(face: Face): Promise<Taker> {
    const process = new Child<ReceiverProcess>("processes/receiver.ts");
    const url = await process.call("listen", face);
    return this.#keep({
      ...{ url, format: "service" },
      finish: () => process.call("wake"),
      settle: () => process.call("settle"),
      close: async () => {
        await process.call("close");
        await process.stop();
      },
    });
  }

  /** A peer, by its file in `bench/peers/ingest`. */
  async peer(name: string, format: FormatName): Promise<Taker> {
    const process = new Child<Handlers & { listen(): string }>(`peers/ingest/${name}.mjs`);
    const url = await process.call("listen");
    const nothing = () => Promise.resolve();
    const close = () => process.stop();
    return this.#keep({ url, format, finish: nothing, settle: nothing, close });
  }

  /** A subject: requests per second that are answered with 2xx; of `events` events each. */
  subject(name: string, { url, format, finish, settle }: Taker, count: number, events = 1) {
    return async (): Promise<Samples> => {
      await this.#sender.call("make", { url, format, count, events, from: this.#sent });
      this.#sent += count;
      const sent = await this.#sender.call("send", CONNECTIONS);
      const finishing = performance.now();
      await finish();
      const ms = sent + performance.now() - finishing;
      await settle();
      return { [name]: perSecond(count * events, ms) };
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#takers.map((taker) => taker.close()));
    await this.#sender.stop();
  }

  #keep(taker: Taker): Taker {
    this.#takers.push(taker);
    return taker;
  }
}
