import {
  backoff,
  type Clock,
  every,
  type Random,
  sleep,
  type TimerOptions,
} from "../../core/clock.ts";
import type { Database } from "./database.ts";
import { type Client, isOfTheServer } from "./driver.ts";
import { PRESENT, type Sessions } from "./presence.ts";
import { settle } from "./session.ts";

/** Default topic of a notification: lanes may be ready. */
const LANES = "lanes";

/** Poll interval while notifications arrive, in ms. Notifications may be lost, so the database is polled too. */
const POLL_INTERVAL_MS = 5_000;

/** Poll interval without notifications, in ms. */
const DEAF_POLL_INTERVAL_MS = 1_000;

/** Minimum interval between notifications, in ms, because each notification takes a server-wide lock. */
const NOTIFY_INTERVAL_MS = 100;

/**
 * Interval between two looks at the other instances' sessions, in ms. A running instance can connect again within this
 * time. The looks also detect a half-open connection.
 */
const LOOK_INTERVAL_MS = 1_000;

/** Waits before reconnecting, in ms. */
const RECONNECT = { baseMs: 200, maxMs: 1_000, factor: 2 };

/** Waits do not keep the process alive. */
const BACKGROUND: TimerOptions = { background: true };

/** `$1` is the channel, named after the schema. `$2` is the sender's id, followed by the topic. */
const NOTIFY = "SELECT pg_notify($1, $2)";

/** Notifies all processes that use an inbox. Never fails, because a process that misses a notification soon polls. */
export async function notifyAll(database: Database, payload: string): Promise<void> {
  await database.rows(NOTIFY, [database.schema, payload]).catch(() => undefined);
}

export interface ListenerOptions {
  readonly database: Pick<Database, "client" | "cutSoon" | "end" | "schema">;
  /** Id of this process among the processes that use the inbox. */
  readonly id: string;
  readonly clock: Clock;
  readonly random?: Random | undefined;
  readonly sessions: Pick<Sessions, "look" | "lost" | "register">;
  /** Called with the topic that another process sent, or with `undefined` if a notification may have been missed. */
  readonly onNotified: (topic: string | undefined) => void;
  /** Called with a new session after the loss of another. Meanwhile, this instance may have been taken for dead. */
  readonly onReconnected: () => void;
}

/** Listens for notifications on a separate connection, the only one that needs a session. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #closing = new AbortController();
  #listening = false;
  /** True behind a pooler, because a pooler forwards no notifications. */
  #deaf = false;
  /** Name of the current session, or of the last one. `undefined` before the first. */
  #session: string | undefined;
  /** `undefined` without a session. */
  #client: Client | undefined;
  readonly #tried = Promise.withResolvers<void>();
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

  /** Registers this process's session, if it can have one. Never fails, because the next look registers it too. */
  async register(): Promise<void> {
    await this.#tried.promise;
    if (this.#client !== undefined) {
      await this.#options.sessions.register(this.#client).catch(() => undefined);
    }
  }

  /** Resolves once this process no longer holds the presence lock. */
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

  /** Listens until the connection is lost. Resolves to true if notifications could arrive. */
  async #listen(): Promise<boolean> {
    const { database, id, sessions, onNotified } = this.#options;
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
    // A statement in progress may still finish. The time limit is for a server that does not respond.
    const cutSoon = () => {
      leave = database.cutSoon(client);
    };
    signal.addEventListener("abort", cutSoon, { once: true });
    try {
      const session = await this.#begin(client);
      if (session === undefined) return false;
      const isFirst = this.#session === undefined;
      this.#session = session;
      this.#client = client;
      this.#listening = true;
      this.#tried.resolve();
      // Before the first connection, no notification can be missed, because an inbox checks for ready lanes when it
      // opens.
      if (!isFirst) this.#reconnected();
      await this.#look(client, lost.signal);
      return true;
    } catch {
      return this.#listening;
    } finally {
      this.#listening = false;
      this.#client = undefined;
      this.#tried.resolve();
      if (this.#session !== undefined && !signal.aborted) void sessions.lost(this.#session);
      await database.end(client);
      signal.removeEventListener("abort", cutSoon);
      leave();
    }
  }

  /**
   * Connects and takes the presence lock, unless this process closes in the meantime. Resolves to the session's name.
   * `undefined` behind a pooler.
   */
  async #begin(client: Client): Promise<string | undefined> {
    const { schema } = this.#options.database;
    const { signal } = this.#closing;
    await client.connect();
    client.unref?.();
    signal.throwIfAborted();
    this.#deaf = (await settle(client)).isPooled;
    if (this.#deaf) return undefined;
    signal.throwIfAborted();
    await client.query(`LISTEN "${schema}"`);
    signal.throwIfAborted();
    const { rows } = await client.query(PRESENT, [schema]);
    return String(rows[0]?.["session"]);
  }

  #reconnected(): void {
    const { onNotified, onReconnected } = this.#options;
    onNotified(undefined);
    onReconnected();
  }

  /** Looks at the other instances' sessions until the connection fails. */
  async #look(client: Client, lost: AbortSignal): Promise<void> {
    const { clock, sessions } = this.#options;
    const stop = AbortSignal.any([lost, this.#closing.signal]);
    const look = () =>
      sessions.look(client).catch((error: unknown) => {
        // A newer version may have changed the tables. The session exists even so.
        if (!isOfTheServer(error)) throw error;
      });
    await look();
    await every(clock, LOOK_INTERVAL_MS, look, stop, BACKGROUND);
  }
}

/** Returns the sender and the topic. */
function wordsOf(message: unknown): readonly string[] {
  return typeof message === "object" && message !== null && "payload" in message
    ? String(message.payload).split(" ")
    : [];
}

export interface WakeUpsOptions extends Omit<ListenerOptions, "onNotified"> {
  readonly database: Database;
  /** Called with the topic when other state than lanes has changed, or with `undefined` if it may have changed. */
  readonly onTopic: (topic: string | undefined) => void;
  /** Called when lanes may have changed: after a notification, or at the poll interval. */
  readonly onWake: (why: "notified" | "time") => void;
}

/** Exchanges change notifications with other processes. A lost notification only causes a delay. */
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

  /** Notifies the other processes that lanes may be ready, as soon as the minimum interval allows. */
  notify(): void {
    const { clock } = this.#options;
    if (this.#cancelNotifying !== undefined || this.#closed) return;
    const wait = this.#notifiedAt + NOTIFY_INTERVAL_MS - clock.now();
    if (wait <= 0) this.#notifyNow();
    else this.#cancelNotifying = clock.timer(wait, () => this.#notifyNow(), BACKGROUND);
  }

  /** Notifies the other processes of another change at once. */
  notifyOf(topic: string): void {
    const { database, id } = this.#options;
    void notifyAll(database, `${id} ${topic}`);
  }

  /** See {@link Listener.register}. */
  register(): Promise<void> {
    return this.#listener.register();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPoll();
    this.#cancelNotifying?.();
    // The other processes can claim released lanes at once.
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
