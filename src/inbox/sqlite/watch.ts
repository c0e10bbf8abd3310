import type { Database } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";

/** What another connection writes is noticed within this time, in milliseconds. */
const INTERVAL_MS = 1_000;

/**
 * Calls `changed` after another connection, such as that of `service-bot inbox`, has committed something to
 * the file. A look costs some microseconds and no I/O. Returns what ends it.
 */
export function watch(db: Database, clock: Clock, changed: () => void): () => void {
  // Nobody else can open a database in memory.
  if (db.memory) return () => undefined;
  const version = db.prepare("PRAGMA data_version").pluck();
  let seen = version.get();
  let cancel: () => void;
  const arm = () => {
    cancel = clock.timer(INTERVAL_MS, look, { background: true });
  };
  const look = () => {
    arm();
    try {
      const now = version.get();
      if (now === seen) return;
      changed();
      seen = now;
    } catch {
      // The store is out of reach for now: the next look will tell, and writes have told already.
    }
  };
  arm();
  return () => cancel();
}
