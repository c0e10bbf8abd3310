import pg from "pg";
import type { Stored } from "./checker.ts";

/** How far the bots are with what they were sent, and what is wrong with the lanes at this moment. */
export interface SharedProgress {
  readonly stored: number;
  readonly pending: number;
  /** Lanes that have pending events and are not to be claimed at any time. */
  readonly stranded: number;
  /** Lanes that say another number of pending events than they have. */
  readonly miscounted: number;
}

/** One statement sees one moment. */
const PROGRESS = `
SELECT (SELECT count(*) FROM event) AS stored, (SELECT count(*) FROM event WHERE state = 'pending') AS pending,
  count(*) FILTER (WHERE real.n > 0 AND lane.ready_at IS NULL) AS stranded,
  count(*) FILTER (WHERE lane.pending <> coalesce(real.n, 0)) AS miscounted
FROM lane LEFT JOIN (SELECT lane, count(*) AS n FROM event WHERE state = 'pending' GROUP BY lane) AS real
  ON real.lane = lane.key`;

const MISSING = "SELECT id FROM unnest($1::text[]) AS id WHERE id NOT IN (SELECT id FROM event)";

/** Once nothing is pending no lane is leased, or waits. */
const LEFT_OVER = "SELECT count(*) AS n FROM lane WHERE owner IS NOT NULL OR ready_at IS NOT NULL";

/** Of each lane that is not done: who has it, for how long or when it is next looked at, and its first event. */
const WAITING = `
SELECT lane.key || ': ' || lane.pending || ' pending, fence ' || lane.fence || ', '
  || CASE WHEN lane.owner IS NULL THEN 'free' ELSE 'leased by ' || lane.owner END || coalesce(', '
  || (lane.ready_at - floor(extract(epoch FROM now()) * 1000)::bigint) || ' ms', '')
  || coalesce(', ' || event.id || ' after ' || event.attempts || ' runs and ' || event.crashes || ' crashes', '') AS line
FROM lane LEFT JOIN LATERAL (
  SELECT id, attempts, crashes FROM event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
) AS event ON true
WHERE lane.owner IS NOT NULL OR lane.ready_at IS NOT NULL OR lane.pending > 0 ORDER BY lane.key`;

export interface StoredWithFence extends Stored {
  /** Of its last claim. */
  readonly fence: number;
}

/** The inbox of bots under test in PostgreSQL, looked at from outside. */
export class InboxDatabase {
  readonly #pool: pg.Pool;

  /** @param url of the server itself: what is between it and the bots may be broken */
  constructor(url: string, schema: string) {
    const options = `-c search_path=${schema} -c statement_timeout=10000`;
    this.#pool = new pg.Pool({ connectionString: url, max: 2, options, allowExitOnIdle: true });
    this.#pool.on("error", () => undefined);
  }

  /** Undefined while there is no inbox, or no server. */
  async progress(): Promise<SharedProgress | undefined> {
    const [row] = await this.#rows<SharedProgress>(PROGRESS).catch(() => []);
    return row;
  }

  /** A line for each lane that is not done, for the post-mortem. */
  async waiting(): Promise<string[]> {
    const rows = await this.#rows<{ readonly line: string }>(WAITING).catch(() => []);
    return rows.map(({ line }) => line);
  }

  /** The ids among these that are not stored. */
  async missing(ids: readonly string[]): Promise<string[]> {
    const rows = await this.#rows<{ readonly id: string }>(MISSING, [ids]);
    return rows.map(({ id }) => id);
  }

  /** Everything, for when no bot runs, with `ok` or what is wrong with the lanes. */
  async contents(): Promise<{ stored: StoredWithFence[]; integrity: string }> {
    const stored = await this.#rows<StoredWithFence>(
      "SELECT id, state, attempts, error, fence FROM event",
    );
    const [left] = await this.#rows<{ readonly n: number }>(LEFT_OVER);
    const { stranded = 0, miscounted = 0 } = (await this.progress()) ?? {};
    const wrong = { stranded, miscounted, "not idle": left?.n ?? 0 };
    const found = Object.entries(wrong).filter(([, n]) => n > 0);
    const integrity = found.map(([what, n]) => `${n} lanes are ${what}`).join(", ") || "ok";
    return { stored, integrity };
  }

  /** Ends all connections of the bots, and returns how many there were. */
  async terminateAll(): Promise<number> {
    const rows = await this.#rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'service-bot %'",
    );
    return rows.length;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#pool.query({ text, values: [...values], types: NUMBERS });
    return rows;
  }
}

/** Counts and fences come as text else. */
const NUMBERS = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;
