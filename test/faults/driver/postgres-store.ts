import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { Place } from "../../support/postgres/open.ts";
import type { BotSettings } from "../bot/protocol.ts";
import { auditCursors, watchCursors } from "./cursor-audit.ts";
import { checkLeases, type JournalEntry, readJournal } from "./leases.ts";
import { type Audit, type Progress, Store } from "./store.ts";

/** Uses a single statement, so that all counts come from one snapshot. */
const PROGRESS = `
SELECT (SELECT count(*) FROM event) AS stored, (SELECT count(*) FROM event WHERE state = 'pending') AS pending,
  count(*) FILTER (WHERE real.n > 0 AND lane.ready_at IS NULL) AS stranded,
  count(*) FILTER (WHERE lane.pending <> coalesce(real.n, 0)) AS miscounted
FROM lane LEFT JOIN (SELECT lane, count(*) AS n FROM event WHERE state = 'pending' GROUP BY lane) AS real
  ON real.lane = lane.key`;

const MISSING = "SELECT id FROM unnest($1::text[]) AS id WHERE id NOT IN (SELECT id FROM event)";

/**
 * Once no event is pending, no lane may be leased or waiting, except for cron lanes: a cron job keeps firing until its
 * bot stops.
 */
const LEFT_OVER = `
SELECT count(*) AS n FROM lane WHERE owner IS NOT NULL OR (ready_at IS NOT NULL AND key NOT LIKE 'cron:%')`;

const UNFINISHED = `
SELECT lane.key || ': ' || lane.pending || ' pending, fence ' || lane.fence || ', '
  || CASE WHEN lane.owner IS NULL THEN 'free' ELSE 'leased by ' || lane.owner END || coalesce(', '
  || (lane.ready_at - floor(extract(epoch FROM now()) * 1000)::bigint) || ' ms', '')
  || coalesce(', ' || event.id || ' after ' || event.attempts || ' runs and ' || event.crashes || ' crashes', '') AS line
FROM lane LEFT JOIN LATERAL (
  SELECT id, attempts, crashes FROM event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
) AS event ON true
WHERE lane.owner IS NOT NULL OR lane.ready_at IS NOT NULL OR lane.pending > 0 ORDER BY lane.key`;

/** Two URLs of the same database, one for the driver and one for the bots. */
export interface DatabaseAddresses {
  readonly own: string;
  readonly bots: string;
  /** Default: `faults`. */
  readonly schema?: string;
}

export class PostgresStore extends Store {
  readonly env: Readonly<Record<string, string>>;
  override readonly settings: Partial<BotSettings>;
  readonly #pool: pg.Pool;
  readonly #own: Place;
  readonly #journalFile: string;

  /** @param folder for the bots' journals */
  constructor({ own, bots, schema = "faults" }: DatabaseAddresses, folder: string) {
    super();
    this.#journalFile = join(folder, "journal.txt");
    this.settings = { journalFile: this.#journalFile };
    this.env = { DATABASE_URL: bots, DATABASE_SCHEMA: schema };
    const options = `-c search_path=${schema} -c statement_timeout=10000`;
    this.#pool = new pg.Pool({ connectionString: own, max: 2, options, allowExitOnIdle: true });
    this.#pool.on("error", () => undefined);
    this.#own = { url: own, schema };
  }

  /** The first bot must have created the tables. */
  async watchCursors(): Promise<void> {
    await watchCursors(this.#own);
  }

  /** Returns `undefined` while the inbox or the server does not exist. */
  async progress(): Promise<Progress | undefined> {
    const [row] = await this.rows<Progress>(PROGRESS).catch(() => []);
    return row;
  }

  async missing(ids: readonly string[]): Promise<string[]> {
    const rows = await this.rows<{ readonly id: string }>(MISSING, [ids]);
    return rows.map(({ id }) => id);
  }

  override async unfinished(): Promise<string[]> {
    const rows = await this.rows<{ readonly line: string }>(UNFINISHED).catch(() => []);
    return rows.map(({ line }) => line);
  }

  protected async integrity(): Promise<string> {
    const [left] = await this.rows<{ readonly n: number }>(LEFT_OVER);
    const { stranded = 0, miscounted = 0 } = (await this.progress()) ?? {};
    const wrong = { stranded, miscounted, "not idle": left?.n ?? 0 };
    const found = Object.entries(wrong).filter(([, n]) => n > 0);
    return found.map(([what, n]) => `${n} lanes are ${what}`).join(", ") || "ok";
  }

  override async audit(): Promise<Audit> {
    const rows = await this.rows<{ id: string; fence: number }>("SELECT id, fence FROM event");
    const fences = new Map(rows.map(({ id, fence }) => [id, fence]));
    const { dropped, stale, stranded, violations } = checkLeases(this.journal(), fences);
    const cursors = await auditCursors(this.#own);
    return {
      figures: {
        "late results dropped": dropped,
        "stale completions": stale,
        "stuck lanes": stranded,
      },
      violations: [...violations, ...cursors.violations],
    };
  }

  journal(): JournalEntry[] {
    if (!existsSync(this.#journalFile)) return [];
    return readJournal(readFileSync(this.#journalFile, "utf8"));
  }

  async terminateAll(): Promise<number> {
    const rows = await this.rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'service-bot %'",
    );
    return rows.length;
  }

  override async close(): Promise<void> {
    await this.#pool.end();
  }

  protected async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#pool.query({ text, values: [...values], types: NUMBERS });
    return rows;
  }
}

/** pg returns 64-bit integers as strings. Counts and fences are small enough for a number. */
const NUMBERS = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;
