import type { Database, Statement } from "better-sqlite3";
import type { DeadLetter, InboxReport, InboxStats } from "../records.ts";

type Parameters = [Record<string, unknown>];

/** What can be asked without a transaction. */
export class Reports {
  readonly #cursor: Statement<Parameters, { readonly position: string }>;
  readonly #webhookTypes: Statement<[], { readonly type: string }>;
  readonly #pending: Statement<[], { readonly n: number; readonly oldest: number | null }>;
  readonly #ended: Statement<[], { readonly done: number; readonly dead: number }>;
  readonly #discarded: Statement<[], { readonly n: number }>;
  readonly #deadByType: Statement<[], { readonly type: string; readonly n: number }>;
  readonly #deadLetters: Statement<Parameters, DeadLetter>;
  readonly #ping: Statement<[]>;

  constructor(db: Database) {
    this.#cursor = db.prepare("SELECT position FROM cursor WHERE name = @name");
    this.#webhookTypes = db.prepare("SELECT type FROM webhook_type");
    this.#pending = db.prepare(
      "SELECT count(*) AS n, min(received_at) AS oldest FROM event WHERE state = 'pending'",
    );
    this.#ended = db.prepare(
      `SELECT count(*) FILTER (WHERE state = 'done') AS done,
              count(*) FILTER (WHERE state = 'dead') AS dead
       FROM event WHERE state <> 'pending'`,
    );
    this.#discarded = db.prepare("SELECT count(*) AS n FROM event WHERE state = 'discarded'");
    this.#deadByType = db.prepare(
      "SELECT type, count(*) AS n FROM event WHERE state = 'dead' GROUP BY type ORDER BY n DESC, type",
    );
    this.#deadLetters = db.prepare(
      `SELECT id, type, lane, attempts, coalesce(error, '') AS error,
              received_at AS receivedAt, done_at AS diedAt
       FROM event WHERE state = 'dead' ORDER BY done_at DESC, seq DESC LIMIT @limit`,
    );
    this.#ping = db.prepare("SELECT 1");
  }

  cursor(name: string): string | undefined {
    return this.#cursor.get({ name })?.position;
  }

  webhookTypes(): ReadonlySet<string> {
    return new Set(this.#webhookTypes.all().map((row) => row.type));
  }

  stats(): InboxStats {
    const pending = this.#pending.get();
    const ended = this.#ended.get();
    return {
      pending: pending?.n ?? 0,
      done: ended?.done ?? 0,
      dead: ended?.dead ?? 0,
      oldestPendingAt: pending?.oldest ?? undefined,
    };
  }

  report(): InboxReport {
    const deadByType = Object.fromEntries(this.#deadByType.all().map(({ type, n }) => [type, n]));
    return { ...this.stats(), discarded: this.#discarded.get()?.n ?? 0, deadByType };
  }

  deadLetters(limit: number): readonly DeadLetter[] {
    return this.#deadLetters.all({ limit });
  }

  ping(): void {
    this.#ping.get();
  }
}
