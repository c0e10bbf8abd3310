import { backoff, type Random } from "../../core/backoff.ts";
import { type Clock, every, sleep, type TimerOptions } from "../../core/clock.ts";
import type { Database } from "./database.ts";
import type { Client } from "./driver.ts";

export interface ListenerOptions {
  readonly database: Pick<Database, "client" | "cutSoon" | "end" | "schema">;
  /** Names this process among those that use the inbox. */
  readonly id: string;
  readonly clock: Clock;
  readonly random?: Random | undefined;
  /** Called with what another process has told of; undefined: it could not be heard for a while, and may have. */
  readonly onHeard: (what: string | undefined) => void;
}

/** What is told of unless something else is named. */
export const LANES = "lanes";

/** A connection that is half-open is noticed within this, and the time that an answer may take, in ms. */
const HEARTBEAT_MS = 10_000;

/** The waits before the connection is made again, in milliseconds. */
const RECONNECT = { baseMs: 200, maxMs: 5_000, factor: 2 };

/** Waiting does not keep the process alive. */
const BACKGROUND: TimerOptions = { background: true };

/** Held by each process that has the inbox open, as long as its connection lives. */
const PRESENT = "SELECT pg_advisory_lock_shared(1936876643, hashtext($1))";

/** How many processes there are. */
export const PROCESSES = `
SELECT count(*) AS n FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1936876643
  AND objid = (hashtext($1)::bigint & 4294967295)::oid
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const BACKEND = "SELECT pg_backend_pid() AS pid";

/** Hears what other processes tell, on a connection of its own: the one thing that needs a session. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #closing = new AbortController();
  #listening = false;
  /** True behind a pooler: there nothing is heard. */
  #deaf = false;
  #heardBefore = false;
  #loop: Promise<unknown> = Promise.resolve();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** True while something could be heard. */
  get listening(): boolean {
    return this.#listening;
  }

  start(): void {
    this.#loop = this.#keepListening();
  }

  /** Resolves once this process is not present any more, also where it was just about to be. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
  }

  async #keepListening(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted && !this.#deaf) {
      const heard = await this.#listen().catch(() => false);
      failures = heard ? 1 : failures + 1;
      await sleep(clock, backoff(RECONNECT, failures, random), signal, BACKGROUND);
    }
  }

  /** Resolves once the connection is gone: to true when it could be heard on. */
  async #listen(): Promise<boolean> {
    const { database, id, onHeard } = this.#options;
    const { signal } = this.#closing;
    const client = database.client();
    const lost = new AbortController();
    client.on("error", () => lost.abort());
    client.on("end", () => lost.abort());
    client.on("notification", (message) => {
      const [sender, what = LANES] = wordsOf(message);
      if (sender !== id) onHeard(what);
    });
    let leave: () => void = () => undefined;
    // What is under way then has its answer first; a server that does not answer is not waited for.
    const cutSoon = () => {
      leave = database.cutSoon(client);
    };
    signal.addEventListener("abort", cutSoon, { once: true });
    try {
      await this.#begin(client);
      if (this.#deaf) return false;
      this.#listening = true;
      // Before the first time nothing was to be heard: whoever has opened the inbox looks by itself.
      if (this.#heardBefore) onHeard(undefined);
      this.#heardBefore = true;
      await this.#beat(client, lost.signal);
      return true;
    } catch {
      return this.#listening;
    } finally {
      this.#listening = false;
      await database.end(client);
      signal.removeEventListener("abort", cutSoon);
      leave();
    }
  }

  /** Connects, and is heard of: unless this process closes meanwhile, of which nobody must hear any more. */
  async #begin(client: Client): Promise<void> {
    const { schema } = this.#options.database;
    const { signal } = this.#closing;
    await client.connect();
    client.unref?.();
    signal.throwIfAborted();
    this.#deaf = await isPooled(client);
    if (this.#deaf) return;
    signal.throwIfAborted();
    await client.query(`LISTEN "${schema}"`);
    signal.throwIfAborted();
    await client.query(PRESENT, [schema]);
  }

  /** Asks for a sign of life again and again; resolves or rejects when there is none any more. */
  #beat(client: Client, lost: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([lost, this.#closing.signal]);
    const beat = () => client.query("SELECT 1");
    return every(this.#options.clock, HEARTBEAT_MS, beat, stop, BACKGROUND);
  }
}

/**
 * A pooler such as PgBouncer gives a client another session than it says. There nothing would be heard, and
 * what belongs to a session would stay behind in it.
 */
async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query(BACKEND);
  return rows[0]?.["pid"] !== client.processID;
}

/** Who tells, and of what. */
function wordsOf(message: unknown): readonly string[] {
  return typeof message === "object" && message !== null && "payload" in message
    ? String(message.payload).split(" ")
    : [];
}
