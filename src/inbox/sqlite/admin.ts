import type { Database } from "better-sqlite3";
import type { InboxAdmin } from "../admin.ts";
import { Administration } from "../administration.ts";
import { Catalogue } from "./catalogue.ts";
import { Decisions } from "./decisions.ts";
import { readStore } from "./group-commit.ts";
import { History } from "./history.ts";
import { Reports } from "./reports.ts";

export interface SqliteAdminOptions {
  readonly db: Database;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Runs work in a transaction. Resolves once it is committed. */
  readonly write: <T>(work: () => T) => Promise<T>;
  /** Told by how many events the backlog has grown. */
  readonly onChange?: (pending: number) => void;
}

/** The administration of an inbox in a SQLite file: of the bot's own, or of one that another process uses. */
export function sqliteAdmin({ db, now, write, onChange }: SqliteAdminOptions): InboxAdmin {
  const catalogue = new Catalogue(db, new History(db));
  const decisions = new Decisions(db);
  const reports = new Reports(db);
  return new Administration({
    list: async (options) => readStore(() => catalogue.list(options, now())),
    show: async (id) => readStore(() => catalogue.show(id, now())),
    targets: async (state, filter) => readStore(() => decisions.targets(state, filter)),
    retry: (ids, assume) => write(() => ids.map((id) => decisions.retry(id, assume, now()))),
    discard: (ids, reason) => write(() => ids.map((id) => decisions.discard(id, reason, now()))),
    report: async () => readStore(() => reports.report(now())),
    changed: (pending) => onChange?.(pending),
  });
}
