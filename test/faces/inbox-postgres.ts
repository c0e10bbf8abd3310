export { CopyTarget, reopenDatabase } from "../../src/inbox/postgres/copy.ts";
export { Database } from "../../src/inbox/postgres/database.ts";
export { dialect } from "../../src/inbox/postgres/dialect.ts";
export {
  type Client,
  type Driver,
  isOfTheServer,
  loadDriver,
  type Pool,
} from "../../src/inbox/postgres/driver.ts";
export { PostgresEndings } from "../../src/inbox/postgres/endings.ts";
export { Backlog } from "../../src/inbox/postgres/intake.ts";
export { LeaseLedger } from "../../src/inbox/postgres/lease-ledger.ts";
export {
  attachPostgres,
  markDatabase,
  probePostgres,
} from "../../src/inbox/postgres/maintenance.ts";
export { type OpenOptions, openDatabase, readableFrom } from "../../src/inbox/postgres/open.ts";
export {
  PostgresInbox,
  type PostgresInboxOptions,
} from "../../src/inbox/postgres/postgres-inbox.ts";
export { PROCESSES, Sessions } from "../../src/inbox/postgres/presence.ts";
export { Listener, type ListenerOptions } from "../../src/inbox/postgres/wake-ups.ts";
export { Decisions } from "../../src/inbox/sql/decisions.ts";
export { readMark } from "../../src/inbox/sql/marks.ts";
export { type Query, query, type SqlStore } from "../../src/inbox/sql/store.ts";
