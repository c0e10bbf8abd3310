import {
  backoff,
  type Clock,
  every,
  type Random,
  sleep,
  type TimerOptions,
} from "../../core/clock.ts";
import type { Database } from "./database.ts";
import type { Client } from "./driver.ts";

/** The topic of a notification that names none. */
const LANES = "lanes";

/** In ms. Notifications are not guaranteed, so everything is looked at this often as well. */
const POLL_INTERVAL_MS = 5_000;

/** In ms. The same while there are no notifications. */
const DEAF_POLL_INTERVAL_MS = 1_000;

/** In ms. Each notification takes a lock of the whole server, so this process sends one at most this often. */
const NOTIFY_INTERVAL_MS = 100;

/** In ms. A half-open connection is noticed within this, and the time that an answer may take. */
const HEARTBEAT_INTERVAL_MS = 10_000;

/** The waits before the connection is made again, in ms. */
const RECONNECT = { baseMs: 200, maxMs: 5_000, factor: 2 };

/** A wait does not keep the process alive. */
const BACKGROUND: TimerOptions = { background: true };

/** The values are the channel, which is the schema, and the sender with a topic. */
const NOTIFY = "SELECT pg_notify($1, $2)";

/** Each process that has the inbox open holds this lock as long as its connection lives. */
const PRESENT = "SELECT pg_advisory_lock_shared(1936876643, hashtext($1))";

/** Counts these processes. */
export const PROCESSES = `
SELECT count(*) AS n FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1936876643
  AND objid = (hashtext($1)::bigint & 4294967295)::oid
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const BACKEND = "SELECT pg_backend_pid() AS pid";

/** Notifies all processes on an inbox. It never fails: a process that misses a notification looks by itself soon. */
export async function notifyAll(database: Database, payload: string): Promise<void> {
  await database.rows(NOTIFY, [database.schema, payload]).catch(() => undefined);
}

export interface ListenerOptions {
  readonly database: Pick<Database, "client" | "cutSoon" | "end" | "schema">;
  /** Names this process among those that use the inbox. */
  readonly id: string;
  readonly clock: Clock;
  readonly random?: Random | undefined;
  /** Called with the topic of another process; `undefined` if one may have been missed. */
  readonly onNotified: (topic: string | undefined) => void;
}

/** Listens to other processes, on a connection of its own: nothing else needs a session. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #closing = new AbortController();
  #listening = false;
  /** True behind a pooler, which passes no notifications on. */
  #deaf = false;
  #listenedBefore = false;
  #loop: Promise<unknown> = Promise.resolve();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** True while notifications arrive. */
  get listening(): boolean {
    return this.#listening;
  }

  start(): void {
    this.#loop = this.#keepListening();
  }

  /** Resolves once this process is no longer present, even if it was just about to be. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
  }

  async #keepListening(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted && !this.#deaf) {
      const listened = await this.#listen().catch(() => false);
      failures = listened ? 1 : failures + 1;
      await sleep(clock, backoff(RECONNECT, failures, random), signal, BACKGROUND);
    }
  }

  /** Resolves once the connection is gone: to true if notifications could arrive. */
  async #listen(): Promise<boolean> {
    const { database, id, onNotified } = this.#options;
    const { signal } = this.#closing;
    const client = database.client();
    const lost = new AbortController();
    client.on("error", () => lost.abort());
    client.on("end", () => lost.abort());
    client.on("notification", (message) => {
      const [sender, topic = LANES] = wordsOf(message);
      if (sender !== id) onNotified(topic);
    });
    let leave: () => void = () => undefined;
    // A statement under way gets its answer first; a server that does not answer is not waited for.
    const cutSoon = () => {
      leave = database.cutSoon(client);
    };
    signal.addEventListener("abort", cutSoon, { once: true });
    try {
      await this.#begin(client);
      if (this.#deaf) return false;
      this.#listening = true;
      // Before the first time there was nothing to miss: an inbox that opens looks by itself.
      if (this.#listenedBefore) onNotified(undefined);
      this.#listenedBefore = true;
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

  /** Connects, and becomes present, unless this process closes meanwhile: then it must not appear again. */
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

  /** Asks for a sign of life again and again; ends when none comes. */
  #beat(client: Client, lost: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([lost, this.#closing.signal]);
    const beat = () => client.query("SELECT 1");
    return every(this.#options.clock, HEARTBEAT_INTERVAL_MS, beat, stop, BACKGROUND);
  }
}

/**
 * True behind a pooler such as PgBouncer, which gives a client another session than it says. No notification would arrive,
 * and what belongs to a session would stay behind in it.
 */
async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query(BACKEND);
  return rows[0]?.["pid"] !== client.processID;
}

/** The sender and the topic. */
function wordsOf(message: unknown): readonly string[] {
  return typeof message === "object" && message !== null && "payload" in message
    ? String(message.payload).split(" ")
    : [];
}

export interface WakeUpsOptions extends Omit<ListenerOptions, "onNotified"> {
  readonly database: Database;
  /** Called when something besides lanes has changed; `undefined`: may have changed. */
  readonly onTopic: (topic: string | undefined) => void;
  /** Called when lanes may have changed: after a notification, or because it is time to look. */
  readonly onWake: (why: "notified" | "time") => void;
}

/** Notifies other processes of changes, and is notified by them. A lost wake-up costs time and nothing else. */
export class WakeUps {
  readonly #options: WakeUpsOptions;
  readonly #listener: Listener;
  #cancelPoll: () => void = () => undefined;
  #cancelNotifying: (() => void) | undefined;
  #notifiedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: WakeUpsOptions) {
    this.#options = options;
    const { onTopic, onWake } = options;
    this.#listener = new Listener({
      ...options,
      onNotified: (topic) => {
        if (topic !== LANES) onTopic(topic);
        if (topic === LANES || topic === undefined) onWake("notified");
      },
    });
  }

  start(): void {
    this.#poll();
    this.#listener.start();
  }

  /** Notifies the others that lanes may be ready: at once, or as soon as the interval allows. */
  notify(): void {
    const { clock } = this.#options;
    if (this.#cancelNotifying !== undefined || this.#closed) return;
    const wait = this.#notifiedAt + NOTIFY_INTERVAL_MS - clock.now();
    if (wait <= 0) this.#notifyNow();
    else this.#cancelNotifying = clock.timer(wait, () => this.#notifyNow(), BACKGROUND);
  }

  /** Notifies the others at once of another change. */
  notifyOf(topic: string): void {
    const { database, id } = this.#options;
    void notifyAll(database, `${id} ${topic}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPoll();
    this.#cancelNotifying?.();
    // The others can take at once what this process has given up.
    if (this.#listener.listening) this.#notifyNow();
    await this.#listener.close();
  }

  #notifyNow(): void {
    const { database, clock, id } = this.#options;
    this.#cancelNotifying = undefined;
    this.#notifiedAt = clock.now();
    void notifyAll(database, id);
  }

  #poll(): void {
    const { clock, onWake, onTopic } = this.#options;
    const look = () => {
      this.#poll();
      onWake("time");
      onTopic(undefined);
    };
    const ms = this.#listener.listening ? POLL_INTERVAL_MS : DEAF_POLL_INTERVAL_MS;
    this.#cancelPoll = clock.timer(ms, look, BACKGROUND);
  }
}
