import type { Database } from "./database.ts";
import { LANES, Listener, type ListenerOptions } from "./listener.ts";

export interface WakeUpsOptions extends Omit<ListenerOptions, "onHeard"> {
  readonly database: Database;
  /** Called when others may have changed something: because they were heard, or because it is time to look. */
  readonly onWake: (why: "heard" | "time") => void;
  /** Called when something else than lanes has changed, or undefined: may have. */
  readonly onTopic?: (topic: string | undefined) => void;
}

/** Beneath the notifications, which nobody promises: all is looked at this often, in milliseconds. */
const POLL_MS = 5_000;

/** The same while there are no notifications. */
const DEAF_POLL_MS = 1_000;

/** Others are told this often at most, in milliseconds: each notification takes a lock of the whole server. */
const TELL_MS = 100;

/** Takes the channel, which is the schema, and who tells of what. */
const TELL = "SELECT pg_notify($1, $2)";

/** Tells all processes on an inbox. It never fails: whoever does not hear it looks by itself soon. */
export async function tell(database: Database, what: string): Promise<void> {
  await database.rows(TELL, [database.schema, what]).catch(() => undefined);
}

/**
 * Tells other processes that there is something to do, and hears it from them. A wake-up that is lost costs
 * time and nothing else.
 */
export class WakeUps {
  readonly #options: WakeUpsOptions;
  readonly #listener: Listener;
  #cancelPoll: () => void = () => undefined;
  #cancelTelling: (() => void) | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: WakeUpsOptions) {
    this.#options = options;
    this.#listener = new Listener({ ...options, onHeard: (what) => this.#heard(what) });
  }

  start(): void {
    this.#poll();
    this.#listener.start();
  }

  /** Tells the others that lanes may be ready: at once, and so often at most. */
  tell(): void {
    const { clock } = this.#options;
    if (this.#cancelTelling !== undefined || this.#closed) return;
    const wait = this.#toldAt + TELL_MS - clock.now();
    if (wait <= 0) this.#tellNow();
    else this.#cancelTelling = clock.timer(wait, () => this.#tellNow(), { background: true });
  }

  /** Tells the others at once what else has changed. */
  tellOf(topic: string): void {
    const { database, id } = this.#options;
    void tell(database, `${id} ${topic}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPoll();
    this.#cancelTelling?.();
    // What this process has given up is theirs at once.
    if (this.#listener.listening) this.#tellNow();
    await this.#listener.close();
  }

  #heard(what: string | undefined): void {
    const { onWake, onTopic } = this.#options;
    if (what !== LANES) onTopic?.(what);
    if (what === LANES || what === undefined) onWake("heard");
  }

  #tellNow(): void {
    const { database, clock, id } = this.#options;
    this.#cancelTelling = undefined;
    this.#toldAt = clock.now();
    void tell(database, id);
  }

  #poll(): void {
    const { clock, onWake, onTopic } = this.#options;
    const look = () => {
      this.#poll();
      onWake("time");
      onTopic?.(undefined);
    };
    const ms = this.#listener.listening ? POLL_MS : DEAF_POLL_MS;
    this.#cancelPoll = clock.timer(ms, look, { background: true });
  }
}
