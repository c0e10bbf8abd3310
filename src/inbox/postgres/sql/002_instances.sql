-- readable from: 1

-- What several instances have together. Times are ms since 1970 on the database's clock, as everywhere.

CREATE TABLE instance (
  id           text COLLATE "C" PRIMARY KEY,
  host         text NOT NULL,
  pid          integer NOT NULL,
  version      text NOT NULL,           -- of service-bot
  started_at   bigint NOT NULL,
  seen_at      bigint NOT NULL,         -- its last sign of life
  delivered_at bigint                   -- when it last stored a delivery
) WITH (fillfactor = 50);

-- One row for what only one instance may do at a time. A write of a leader holds this row, so that a term
-- cannot end between the look and the write.
CREATE TABLE leader (
  name       text COLLATE "C" PRIMARY KEY,
  holder     text COLLATE "C",          -- NULL once it was handed back
  term       bigint NOT NULL,
  expires_at bigint NOT NULL,
  renewed_at bigint NOT NULL            -- the last sign of life of the holder
) WITH (fillfactor = 50);

-- What a leader leaves for the others, and for the next one.
CREATE TABLE note (
  name       text COLLATE "C" PRIMARY KEY,
  term       bigint NOT NULL,
  text       text NOT NULL,
  written_at bigint NOT NULL
) WITH (fillfactor = 50);

-- What the webhook brought lately, for the one that compares it with the log.
CREATE TABLE delivery (
  seq      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  instance text COLLATE "C" NOT NULL,
  at       bigint NOT NULL,             -- when it was stored
  events   text NOT NULL                -- JSON: [[id, type], …]
);

CREATE INDEX delivery_at ON delivery (at);

-- No longer used: each instance has its own circuit breakers. Instances of 0.1.0 need the table during an update.
CREATE TABLE circuit (
  name        text COLLATE "C" PRIMARY KEY,
  opened      integer NOT NULL,         -- how often in a row; 0 while it is closed
  open_until  bigint NOT NULL,
  asked       boolean NOT NULL,         -- the platform said so
  version     bigint NOT NULL,          -- grows each time that it is opened
  trial       text COLLATE "C",         -- the instance that tries
  trial_until bigint
) WITH (fillfactor = 50);

-- No longer used: instances divide the budget of requests. Instances of 0.1.0 need the table during an update.
CREATE TABLE place (
  number   integer PRIMARY KEY,
  grip     text COLLATE "C",            -- of whoever took it last
  frees_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
