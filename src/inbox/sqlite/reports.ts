import type { Database, Statement } from "better-sqlite3";
import type { InboxMeasures } from "../measures.ts";
import type { InboxReport, InboxStats } from "../records.ts";

type Parameters = [Record<string, unknown>];

interface EndedRow {
  readonly ended: number;
  readonly dead: number;
  readonly discarded: number;
}

/** What can be asked without a transaction. */
export class Reports {
  readonly #cursor: Statement<Parameters, { readonly position: string }>;
  readonly #webhookTypes: Statement<[], { readonly type: string }>;
  readonly #pending: Statement<[], { readonly n: number; readonly oldest: number | null }>;
  readonly #backlog: Statement<[], { readonly n: number }>;
  readonly #ended: Statement<[], EndedRow>;
  readonly #dead: Statement<[], { readonly n: number }>;
  readonly #deadByType: Statement<[], { readonly type: string; readonly n: number }>;
  readonly #ping: Statement<[]>;

  constructor(db: Database) {
    this.#cursor = db.prepare("SELECT position FROM cursor WHERE name = @name");
    this.#webhookTypes = db.prepare("SELECT type FROM webhook_type");
    // Counted from the index alone: this is asked often, and the rows may be many.
    this.#backlog = db.prepare("SELECT count(*) AS n FROM event WHERE state = 'pending'");
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
    this.#deadByType = db.prepare(
      "SELECT type, count(*) AS n FROM event WHERE state = 'dead' GROUP BY type ORDER BY n DESC, type",
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
    const pending = this.#pending.get();
    return {
      pending: pending?.n ?? 0,
      oldestPendingAt: pending?.oldest ?? undefined,
      dead: this.#dead.get()?.n ?? 0,
    };
  }

  stats(): InboxStats {
    const { pending, done, dead, oldestPendingAt } = this.#count();
    return { pending, done, dead, oldestPendingAt };
  }

  report(): InboxReport {
    const deadByType = Object.fromEntries(this.#deadByType.all().map(({ type, n }) => [type, n]));
    return { ...this.#count(), deadByType };
  }

  ping(): void {
    this.#ping.get();
  }

  #count(): Omit<InboxReport, "deadByType"> {
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
