import { setImmediate as turn } from "node:timers/promises";
import { createLogger, systemClock } from "../../faces/core.ts";
import { EVENT_LOG } from "../../faces/inbox.ts";
import { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { SharedPeers, type Term } from "../../faces/poller.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

export type Fate = "resigns" | "is cut off" | "is half-open";

export interface LeaderWatch {
  begin(term: number): Fate;
  over(term: number): void;
  /** Records whether an instance could still move the cursor after its term ended. */
  movedLate(moved: boolean): void;
}

export interface CandidateOptions {
  readonly port: number;
  readonly schema: string;
  readonly leaseMs: number;
  readonly watch: LeaderWatch;
}

const TIMEOUT_MS = 3_000;

export class Candidate {
  readonly #options: CandidateOptions;
  readonly #proxy: TcpProxy;
  readonly #inbox: PostgresInbox;
  readonly #peers: SharedPeers;
  readonly #stop = new AbortController();
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop.signal.addEventListener("abort", () => resolve());
  });
  #loop: Promise<void> = Promise.resolve();
  #position = 0;

  private constructor(options: CandidateOptions, proxy: TcpProxy, inbox: PostgresInbox) {
    this.#options = options;
    this.#proxy = proxy;
    this.#inbox = inbox;
    const { shared } = inbox;
    if (shared === undefined) throw new Error("a PostgreSQL inbox must have shared state");
    const log = createLogger({ level: "silent", secrets: [] });
    const { leaseMs } = options;
    this.#peers = new SharedPeers({ shared, clock: systemClock, log, leaseMs });
  }

  static async start(options: CandidateOptions): Promise<Candidate> {
    const proxy = await TcpProxy.open(options.port);
    const { schema } = options;
    const url = `postgres://bot@127.0.0.1:${proxy.port}/postgres`;
    const inbox = await PostgresInbox.open({ url, schema, timeoutMs: TIMEOUT_MS });
    const candidate = new Candidate(options, proxy, inbox);
    candidate.#loop = candidate.#run();
    return candidate;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await this.#peers.resign();
    await this.#inbox.close();
    this.#proxy.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const term = await this.#peers.nextTerm(signal);
      if (term?.number === undefined) return;
      // Let due timers fire before the next term, so that a leader whose trust has expired steps down first.
      await turn();
      await turn();
      if (!term.signal.aborted) await this.#lead(term, term.number);
    }
  }

  async #lead(term: Term, number: number): Promise<void> {
    const over = new Promise<void>((resolve) => {
      term.signal.addEventListener("abort", () => {
        this.#options.watch.over(number);
        resolve();
      });
    });
    const fate = this.#options.watch.begin(number);
    await this.#move(number).catch(() => undefined);
    if (fate === "resigns" || this.#stop.signal.aborted) {
      await this.#peers.resign();
    } else {
      if (fate === "is cut off") this.#proxy.cut();
      else this.#proxy.freeze();
      // The leader has to detect the dead connection on its own.
      await Promise.race([over, this.#stopped]);
      this.#proxy.dropFrozen();
      this.#proxy.mend();
    }
    await this.#moveLate(number);
  }

  async #moveLate(number: number): Promise<void> {
    const refused = await this.#move(number).catch(() => undefined);
    if (refused !== undefined) this.#options.watch.movedLate(!refused);
  }

  async #move(term: number): Promise<boolean> {
    this.#position += 1;
    const position = String(this.#position);
    const { termOver = false } = await this.#inbox.put([], "poll", [
      { name: EVENT_LOG, position, term },
    ]);
    return termOver;
  }
}
