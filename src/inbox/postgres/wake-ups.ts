import { backoff, type Random } from "../../core/backoff.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import type { Database } from "./database.ts";
import type { Client } from "./driver.ts";

export interface WakeUpsOptions {
  readonly database: Database;
  /** Names this process among those that use the inbox. */
  readonly id: string;
  readonly clock: Clock;
  readonly random?: Random | undefined;
  /**
   * Called when others may have changed something: they said so, it could not be heard for a while, or it is
   * merely time to look.
   */
  readonly onWake: (why: "told" | "connected" | "time") => void;
  /** Called when others have said what has changed, which is something else than lanes. */
  readonly onTopic?: (topic: string) => void;
}

/** A connection that is half-open is noticed within this, and the time that an answer may take, in ms. */
const HEARTBEAT_MS = 10_000;

/** Beneath the notifications, which nobody promises: all is looked at this often, in milliseconds. */
const POLL_MS = 5_000;

/** The same where there are no notifications. */
const DEAF_POLL_MS = 1_000;

/** Others are told this often at most, in milliseconds: each notification takes a lock of the whole database. */
const TELL_MS = 100;

/** The waits before the connection is made again, in milliseconds. */
const RECONNECT = { baseMs: 200, maxMs: 5_000, factor: 2 };

/** Takes the channel, which is the schema, and who tells. */
export const TELL = "SELECT pg_notify($1, $2)";

/** Held by each process that has the inbox open, as long as its connection lives. */
const PRESENT = "SELECT pg_advisory_lock_shared(1936876643, hashtext($1)), pg_backend_pid() AS pid";

/** How many processes there are. */
export const PROCESSES = `
SELECT count(*) AS n FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1936876643
  AND objid = (hashtext($1)::bigint & 4294967295)::oid
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const BACKEND = "SELECT pg_backend_pid() AS pid";

/**
 * Tells other processes that there is something to do, and hears it from them, on a connection of its own.
 * A wake-up that is lost costs time and nothing else.
 */
export class WakeUps {
  readonly #options: WakeUpsOptions;
  readonly #closing = new AbortController();
  #listening = false;
  #deaf = false;
  #heardBefore = false;
  #loop: Promise<unknown> = Promise.resolve();
  #cancelPoll: () => void = () => undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cancelTelling: (() => void) | undefined;

  constructor(options: WakeUpsOptions) {
    this.#options = options;
  }

  /** True while notifications are heard. */
  get listening(): boolean {
    return this.#listening;
  }

  start(): void {
    this.#poll();
    this.#loop = this.#keepListening();
  }

  /** Tells the others that lanes may be ready: at once, and so often at most. */
  tell(): void {
    const { clock } = this.#options;
    if (this.#cancelTelling !== undefined || this.#closing.signal.aborted) return;
    const wait = Math.max(0, this.#toldAt + TELL_MS - clock.now());
    if (wait === 0) this.#tellNow();
    else this.#cancelTelling = clock.timer(wait, () => this.#tellNow(), { background: true });
  }

  /** Tells the others at once what else has changed. */
  tellOf(topic: string): void {
    const { database, id } = this.#options;
    database.rows(TELL, [database.schema, `${id} ${topic}`]).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancelPoll();
    this.#cancelTelling?.();
    // What this process has given up is theirs at once.
    if (this.#listening) this.#tellNow();
    // One that is just being made ends by itself; a server that does not answer is not waited for.
    if (this.#listening) await this.#loop;
  }

  #tellNow(): void {
    const { database, clock, id } = this.#options;
    this.#cancelTelling = undefined;
    this.#toldAt = clock.now();
    // Whoever does not hear it looks by itself soon.
    database.rows(TELL, [database.schema, id]).catch(() => undefined);
  }

  #poll(): void {
    const { clock, onWake } = this.#options;
    const look = () => {
      this.#poll();
      onWake("time");
    };
    const ms = this.#listening ? POLL_MS : DEAF_POLL_MS;
    this.#cancelPoll = clock.timer(ms, look, { background: true });
  }

  async #keepListening(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted && !this.#deaf) {
      const heard = await this.#listen().catch(() => false);
      failures = heard ? 1 : failures + 1;
      await sleep(background(clock), backoff(RECONNECT, failures, random), signal);
    }
  }

  /** Resolves once the connection is gone: to true when notifications were heard on it. */
  async #listen(): Promise<boolean> {
    const { database, id, onWake, onTopic } = this.#options;
    const client = database.client();
    const lost = new AbortController();
    client.on("error", () => lost.abort());
    client.on("end", () => lost.abort());
    client.on("notification", (message) => {
      const [sender, topic] = wordsOf(message);
      if (sender === id) return;
      if (topic === undefined) onWake("told");
      else onTopic?.(topic);
    });
    try {
      await client.connect();
      client.unref?.();
      if (await this.#isPooled(client)) {
        this.#deaf = true;
        return false;
      }
      await client.query(`LISTEN "${database.schema}"`);
      await client.query(PRESENT, [database.schema]);
      this.#listening = true;
      // Before the first time nothing was to be heard: whoever has opened the inbox looks by itself.
      if (this.#heardBefore) onWake("connected");
      this.#heardBefore = true;
      await this.#beat(client, lost.signal);
      return true;
    } catch {
      return this.#listening;
    } finally {
      this.#listening = false;
      await client.end().catch(() => undefined);
    }
  }

  /**
   * A pooler such as PgBouncer gives a client another session than it says. There nothing would be heard, and
   * what belongs to a session would stay behind in it.
   */
  async #isPooled(client: Client): Promise<boolean> {
    const { rows } = await client.query(BACKEND);
    return rows[0]?.["pid"] !== client.processID;
  }

  /** Asks for a sign of life again and again; resolves or rejects when there is none any more. */
  async #beat(client: Client, lost: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([lost, this.#closing.signal]);
    for (;;) {
      await sleep(background(this.#options.clock), HEARTBEAT_MS, stop);
      if (stop.aborted) return;
      await client.query("SELECT 1");
    }
  }
}

/** Who tells, and of what where that is not the lanes. */
function wordsOf(message: unknown): readonly string[] {
  return typeof message === "object" && message !== null && "payload" in message
    ? String(message.payload).split(" ")
    : [];
}

/** Waits that do not keep the process alive. */
function background(clock: Clock): Clock {
  return { now: () => clock.now(), timer: (ms, fn) => clock.timer(ms, fn, { background: true }) };
}
