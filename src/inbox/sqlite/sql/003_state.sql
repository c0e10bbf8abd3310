-- State that handlers keep between events, written in the transaction that ends an event.
CREATE TABLE state (
  key        TEXT NOT NULL PRIMARY KEY, -- a lane, unless a handler names another key
  value      TEXT NOT NULL,             -- JSON
  version    TEXT NOT NULL,             -- the event and the run that wrote the state
  updated_at INTEGER NOT NULL           -- ms since 1970
) STRICT;

-- Timers set by handlers. A row becomes an event once it is due.
CREATE TABLE timer (
  lane     TEXT NOT NULL,
  name     TEXT NOT NULL,
  key      TEXT NOT NULL,
  due_at   INTEGER NOT NULL,            -- ms since 1970
  event_id TEXT NOT NULL,
  body     TEXT NOT NULL,               -- JSON
  PRIMARY KEY (lane, name, key)
) STRICT;

CREATE INDEX timer_due ON timer (due_at);
