-- Settings that survive a restart: limits, storage, the clock. `event_floor` is a number below every future event. A
-- restored or reset state has fewer events, and a bot would ignore an event with a reused number as a duplicate.
CREATE TABLE setting (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL                  -- JSON
) STRICT, WITHOUT ROWID;
