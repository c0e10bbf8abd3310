-- readable from: 1

-- State that handlers keep between events, written in the transaction that ends an event.
CREATE TABLE state (
  key        text COLLATE "C" PRIMARY KEY, -- a lane, unless a handler names another key
  value      text NOT NULL,             -- JSON
  version    text COLLATE "C" NOT NULL, -- names the event and the run that wrote the state
  updated_at bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Timers set by handlers. A row becomes an event once it is due.
CREATE TABLE timer (
  lane     text COLLATE "C" NOT NULL,
  name     text COLLATE "C" NOT NULL,
  key      text COLLATE "C" NOT NULL,
  due_at   bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  body     text NOT NULL,               -- JSON
  PRIMARY KEY (lane, name, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX timer_due ON timer (due_at);
