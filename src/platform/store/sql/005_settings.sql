-- What is set while the platform runs and is not lost with the process: limits, storage, the clock. Also
-- `event_floor`, a number that every later event is above: a state that was restored or reset has fewer
-- events, and a bot that has seen a number would take a second event of it for a repeat.
CREATE TABLE setting (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL                  -- JSON
) STRICT, WITHOUT ROWID;
