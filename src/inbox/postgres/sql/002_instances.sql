-- readable from: 1

-- State that several instances share. Times are in ms since 1970 on the database's clock.

CREATE TABLE instance (
  id           text COLLATE "C" PRIMARY KEY,
  host         text NOT NULL,
  pid          integer NOT NULL,
  version      text NOT NULL,           -- version of service-bot
  started_at   bigint NOT NULL,
  seen_at      bigint NOT NULL,         -- last heartbeat
  delivered_at bigint                   -- last stored delivery
) WITH (fillfactor = 50);

-- One row per task that only one instance may do at a time. A leader's write locks this row, so that the term cannot
-- end between the check and the write.
CREATE TABLE leader (
  name       text COLLATE "C" PRIMARY KEY,
  holder     text COLLATE "C",          -- NULL once resigned
  term       bigint NOT NULL,
  expires_at bigint NOT NULL,
  renewed_at bigint NOT NULL            -- last heartbeat of the holder
) WITH (fillfactor = 50);

-- Text that a leader leaves for the other instances and the next leader.
CREATE TABLE note (
  name       text COLLATE "C" PRIMARY KEY,
  term       bigint NOT NULL,
  text       text NOT NULL,
  written_at bigint NOT NULL
) WITH (fillfactor = 50);

-- Recent webhook deliveries, which the leader compares with the log.
CREATE TABLE delivery (
  seq      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  instance text COLLATE "C" NOT NULL,
  at       bigint NOT NULL,             -- when the delivery was stored
  events   text NOT NULL                -- JSON: [[id, type], …]
);

CREATE INDEX delivery_at ON delivery (at);

-- No longer used, because each instance has its own circuit breakers. Instances of version 0.1.0 need the table during
-- an update.
CREATE TABLE circuit (
  name        text COLLATE "C" PRIMARY KEY,
  opened      integer NOT NULL,         -- consecutive openings; 0 if closed
  open_until  bigint NOT NULL,
  asked       boolean NOT NULL,         -- the platform requested the pause
  version     bigint NOT NULL,          -- grows with each opening
  trial       text COLLATE "C",         -- the instance that probes
  trial_until bigint
) WITH (fillfactor = 50);

-- No longer used, because instances divide the request budget. Instances of version 0.1.0 need the table during an
-- update.
CREATE TABLE place (
  number   integer PRIMARY KEY,
  grip     text COLLATE "C",            -- id of the last owner
  frees_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
