import type { Samples, Subject } from "../harness/benchmark.ts";
import { Child, type Handlers } from "../harness/child.ts";
import type { BotProcess, BotSetting } from "../processes/bot.ts";
import type { DurableOptions, DurableServer } from "../processes/durable-server.ts";
import type { ReceiverProcess } from "../processes/receiver.ts";
import type { Sender } from "../processes/sender.ts";
import { withCpu } from "./cpu.ts";
import type { FormatName } from "./formats.ts";
import { perSecond } from "./rate.ts";

/** Number of connections that a busy platform keeps open. */
const CONNECTIONS = 64;

/** A bot with the default settings. Its log goes to /dev/null, because a pipe would also measure its reader. */
export const defaultBot: BotSetting = {
  handler: "nothing",
  env: { DELIVERY: "auto", LOG_LEVEL: "info" },
};

export interface Taker {
  readonly url: string;
  readonly format: FormatName;
  readonly process: Child<Handlers>;
  /** Completes deferred work. Counts towards the measured time. */
  finish(count: number): Promise<unknown>;
  /** Does work that a real bot would not do, outside the measured time. */
  settle(): Promise<unknown>;
  close(): Promise<unknown>;
}

const nothing = () => Promise.resolve();

/** Sends every request once and never repeats an event. Creating and signing requests is not timed. */
export class Ingest {
  readonly #sender = new Child<Sender>("processes/sender.ts", { side: "load" });
  readonly #takers = new Set<Taker>();
  #sent = 0;

  async receiver(): Promise<Taker> {
    const process = new Child<ReceiverProcess>("processes/receiver.ts", { side: "measured" });
    return this.#keep({
      ...{ url: await process.call("listen"), format: "service", process },
      finish: () => process.call("finish"),
      settle: () => process.call("settle"),
      close: () => process.call("stop"),
    });
  }

  /** Starts a whole bot. Its `finish` resolves once every event is handled and every outcome is stored. */
  async bot(setting: BotSetting): Promise<Taker> {
    const process = new Child<BotProcess>("processes/bot.ts", {
      side: "measured",
      output: "ignore",
    });
    return this.#keep({
      ...{ url: await process.call("start", setting), format: "service", process },
      finish: () => process.call("idle"),
      settle: nothing,
      close: () => process.call("stop"),
    });
  }

  /** Starts a minimal durable server. */
  async durable({ endsEvents, leasesEvents = false }: Partial<DurableOptions>): Promise<Taker> {
    const process = new Child<DurableServer>("processes/durable-server.ts", {
      side: "measured",
      output: "ignore",
    });
    const options = { endsEvents: endsEvents === true, leasesEvents };
    return this.#keep({
      ...{ url: await process.call("listen", options), format: "service", process },
      finish: () => process.call("finish"),
      settle: endsEvents ? nothing : () => process.call("renew"),
      close: () => process.call("stop"),
    });
  }

  /** Starts the inbox that an author would write by hand. */
  async inboxByHand(): Promise<Taker> {
    const taker = await this.peer("ingest/inbox-by-hand", "service");
    return { ...taker, finish: () => taker.process.call("finish") };
  }

  async peer(file: string, format: FormatName, env: Record<string, string> = {}): Promise<Taker> {
    type Peer = Handlers & { listen(): string };
    const process = new Child<Peer>(`peers/${file}.mjs`, { side: "measured", env });
    const url = await process.call("listen");
    return this.#keep({ url, format, process, finish: nothing, settle: nothing, close: nothing });
  }

  /** Measures acknowledged events per second and CPU time. Each delivery has `events` events. */
  subject(name: string, taker: Taker, count: number, events = 1): Subject {
    const { url, format, process } = taker;
    return async (): Promise<Samples> => {
      await this.#sender.call("make", { url, format, count, events, from: this.#sent });
      this.#sent += count;
      const samples = await withCpu(name, process, count * events, async () => {
        const sent = await this.#sender.call("send", CONNECTIONS);
        const finishing = performance.now();
        await taker.finish(count * events);
        return { [name]: perSecond(count * events, sent + performance.now() - finishing) };
      });
      await taker.settle();
      return samples;
    };
  }

  /** Measures a new process for each sample, whose code V8 has not optimized yet. Otherwise like {@link subject}. */
  coldSubject(name: string, start: () => Promise<Taker>, count: number): Subject {
    return async (): Promise<Samples> => {
      const taker = await start();
      const samples = await this.subject(name, taker, count)();
      await this.#stop(taker);
      return samples;
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#takers].map((taker) => this.#stop(taker)));
    await this.#sender.stop();
  }

  async #stop(taker: Taker): Promise<void> {
    this.#takers.delete(taker);
    await taker.close();
    await taker.process.stop();
  }

  #keep(taker: Omit<Taker, "process"> & { readonly process: unknown }): Taker {
    // The type can forget the process's own calls, because they are not used after this point.
    const kept = { ...taker, process: taker.process as Child<Handlers> };
    this.#takers.add(kept);
    return kept;
  }
}
