import { statSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import type { InboxMeasures } from "../measures.ts";
import type { InboxReport, InboxStats, LaneReport, StorageReport } from "../records.ts";

type Parameters = [Record<string, unknown>];

interface EndedRow {
  readonly ended: number;
  readonly dead: number;
  readonly discarded: number;
}

interface GroupRow {
  readonly name: string;
  readonly n: number;
}

/** So much of an error is its name and its code, where nothing says where these end. */
const MOST_OF_ERROR = 80;

const LEASED = "owner IS NOT NULL AND ready_at > @now";
const WAITING = "owner IS NULL AND ready_at > @now";

/** What can be asked without a transaction. */
export class Reports {
  readonly #db: Database;
  readonly #cursor: Statement<Parameters, { readonly position: string }>;
  readonly #webhookTypes: Statement<[], { readonly type: string }>;
  readonly #pending: Statement<[], { readonly n: number; readonly oldest: number | null }>;
  readonly #oldest: Statement<[], { readonly at: number }>;
  readonly #backlog: Statement<[], { readonly n: number }>;
  readonly #ended: Statement<[], EndedRow>;
  readonly #pendingByType: Statement<[], GroupRow>;
  readonly #deadByType: Statement<[], GroupRow>;
  readonly #deadByError: Statement<[], GroupRow>;
  readonly #lanes: Statement<Parameters, LaneReport>;
  readonly #dead: Statement<[], { readonly n: number }>;
  readonly #ping: Statement<[]>;

  constructor(db: Database) {
    this.#db = db;
    this.#cursor = db.prepare("SELECT position FROM cursor WHERE name = @name");
    this.#webhookTypes = db.prepare("SELECT type FROM webhook_type");
    // Counted from the index alone: this is asked often, and the rows may be many.
    this.#backlog = db.prepare("SELECT count(*) AS n FROM event WHERE state = 'pending'");
    // By the index alone, because 100,000 rows would hold up the process for 200 ms. The oldest event came first.
    this.#oldest = db.prepare(
      `SELECT received_at AS at FROM event WHERE seq =
         (SELECT min(seq) FROM event INDEXED BY event_pending WHERE state = 'pending')`,
    );
    this.#pending = db.prepare(
      "SELECT count(*) AS n, min(received_at) AS oldest FROM event WHERE state = 'pending'",
    );
    this.#ended = db.prepare(
      // Counted from the indexes alone; what is done is what is left of all that have ended.
      `SELECT (SELECT count(*) FROM event WHERE state <> 'pending') AS ended,
              (SELECT count(*) FROM event WHERE state = 'dead') AS dead,
              (SELECT count(*) FROM event WHERE state = 'discarded') AS discarded`,
    );
    this.#dead = db.prepare("SELECT count(*) AS n FROM event WHERE state = 'dead'");
    const grouped = (name: string, state: "pending" | "dead", more = "") =>
      db.prepare<[], GroupRow>(
        `SELECT ${name} AS name, count(*) AS n FROM event WHERE state = '${state}'
         GROUP BY 1 ORDER BY n DESC, name ${more}`,
      );
    this.#pendingByType = grouped("type", "pending");
    this.#deadByType = grouped("type", "dead");
    const end = "instr(error, ': ')";
    this.#deadByError = grouped(
      `substr(coalesce(error, ''), 1,
         CASE WHEN ${end} BETWEEN 2 AND ${MOST_OF_ERROR} THEN ${end} - 1 ELSE ${MOST_OF_ERROR} END)`,
      "dead",
      "LIMIT 20",
    );
    // By the events: a lane that has just got its first one may not be told of it yet.
    this.#lanes = db.prepare(
      `SELECT count(*) - count(CASE WHEN ready_at > @now THEN 1 END) AS ready,
         count(CASE WHEN ${WAITING} THEN 1 END) AS waiting,
         count(CASE WHEN ${LEASED} THEN 1 END) AS leased,
         count(CASE WHEN ${WAITING} AND n > 1 THEN 1 END) AS blocked
       FROM (SELECT lane, count(*) AS n FROM event WHERE state = 'pending' GROUP BY lane) AS counted
       LEFT JOIN lane ON lane.key = counted.lane`,
    );
    this.#ping = db.prepare("SELECT 1");
  }

  cursor(name: string): string | undefined {
    return this.#cursor.get({ name })?.position;
  }

  webhookTypes(): ReadonlySet<string> {
    return new Set(this.#webhookTypes.all().map((row) => row.type));
  }

  pending(): number {
    return this.#backlog.get()?.n ?? 0;
  }

  /** What waits for the bot, or for a person. */
  waiting(): Omit<InboxMeasures, "disk"> {
    return {
      pending: this.pending(),
      oldestPendingAt: this.#oldest.get()?.at,
      dead: this.#dead.get()?.n ?? 0,
    };
  }

  stats(): InboxStats {
    const { pending, done, dead, oldestPendingAt } = this.#count();
    return { pending, done, dead, oldestPendingAt };
  }

  report(now: number): InboxReport {
    return {
      ...this.#count(),
      pendingByType: byName(this.#pendingByType.all()),
      deadByType: byName(this.#deadByType.all()),
      deadByError: byName(this.#deadByError.all()),
      lanes: this.#lanes.get({ now }) ?? { ready: 0, waiting: 0, leased: 0, blocked: 0 },
      storage: this.#storage(),
    };
  }

  ping(): void {
    this.#ping.get();
  }

  #storage(): StorageReport {
    const pragma = (name: string) => Number(this.#db.pragma(name, { simple: true }));
    const bytes = pragma("page_count") * pragma("page_size");
    if (this.#db.memory) return { bytes, walBytes: undefined };
    const wal = statSync(`${this.#db.name}-wal`, { throwIfNoEntry: false });
    return { bytes, walBytes: wal?.size ?? 0 };
  }

  #count(): InboxStats & Pick<InboxReport, "discarded"> {
    const pending = this.#pending.get();
    const { ended, dead, discarded } = this.#ended.get() ?? { ended: 0, dead: 0, discarded: 0 };
    return {
      pending: pending?.n ?? 0,
      done: ended - dead - discarded,
      dead,
      discarded,
      oldestPendingAt: pending?.oldest ?? undefined,
    };
  }
}

function byName(rows: readonly GroupRow[]): Record<string, number> {
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}
