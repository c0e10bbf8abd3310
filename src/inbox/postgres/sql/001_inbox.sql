-- readable from: 1

-- Keys compare byte by byte under any database locale, as they do in SQLite and in JavaScript.

-- The lane is the unit of claiming. ready_at is both schedule and lease (a visibility timeout): NULL is idle, a past
-- time is claimable, and a future time is leased or waiting for a retry.
CREATE TABLE lane (
  key      text COLLATE "C" PRIMARY KEY,
  pending  integer NOT NULL DEFAULT 0,  -- a counter, because EXISTS would miss a concurrent event
  ready_at bigint,                      -- ms since 1970 on the database's clock, like all times
  owner    text,
  fence    bigint NOT NULL DEFAULT 0,
  claimed  bigint,                      -- seq of the last claimed event, which runs while the lane has an owner
  done_ord text COLLATE "C",            -- ord of the last done event, which identifies late events
  done_at  bigint                       -- when the lane's last event ended
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX lane_ready ON lane (ready_at, key) WHERE ready_at IS NOT NULL;
CREATE INDEX lane_idle ON lane (done_at) WHERE ready_at IS NULL;

CREATE TABLE event (
  seq         bigint GENERATED ALWAYS AS IDENTITY,
  id          text COLLATE "C" PRIMARY KEY,
  lane        text COLLATE "C" NOT NULL,
  ord         text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  body        text,                     -- not jsonb, which refuses some valid JSON; NULL once deleted
  source      text NOT NULL CHECK (source IN ('webhook', 'poll')),
  state       text NOT NULL CHECK (state IN ('pending', 'done', 'dead', 'discarded')),
  attempts    integer NOT NULL DEFAULT 0, -- ended runs; a claim writes only its lane
  crashes     integer NOT NULL DEFAULT 0, -- runs that never recorded an outcome
  fence       bigint NOT NULL DEFAULT 0,  -- fence of the last ended run
  received_at bigint NOT NULL,
  done_at     bigint,
  error       text,
  reason      text                      -- why the event was discarded
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX event_pending ON event (lane, ord, seq) WHERE state = 'pending';
-- Each ended event is in only one of these indexes. An index with more rows would make every ending more expensive.
CREATE INDEX event_whole ON event (done_at, seq) WHERE state IN ('done', 'discarded') AND body IS NOT NULL;
CREATE INDEX event_bare ON event (done_at, seq) WHERE state IN ('done', 'discarded') AND body IS NULL;
CREATE INDEX event_parked ON event (state, done_at, seq) WHERE state IN ('dead', 'discarded');

-- The tables with an event's data have no foreign key. A foreign key would be checked whenever an event ends, and would
-- lock the event for each step. The data is written only under the event's lease, and deleted before the event.

-- Runs that did not succeed. An event that succeeds on the first run has none.
CREATE TABLE attempt (
  event_id text COLLATE "C" NOT NULL,
  fence    bigint NOT NULL,
  number   integer NOT NULL,            -- ctx.attempt, starting at 1
  outcome  text NOT NULL CHECK (outcome IN ('failed', 'released', 'dead', 'crashed')),
  error    text,
  ended_at bigint NOT NULL,
  PRIMARY KEY (event_id, fence)
);

-- A row without a result is an intent whose effect may have happened.
CREATE TABLE step (
  event_id   text COLLATE "C" NOT NULL,
  name       text COLLATE "C" NOT NULL,
  state      text NOT NULL CHECK (state IN ('open', 'done')),
  request    text NOT NULL,
  result     text,
  ref        text COLLATE "C",          -- the platform's id of the effect
  fence      bigint NOT NULL,
  started_at bigint NOT NULL,
  PRIMARY KEY (event_id, name)
);

CREATE INDEX step_ref ON step (ref) WHERE ref IS NOT NULL;

CREATE TABLE cursor (
  name     text COLLATE "C" PRIMARY KEY,
  position text NOT NULL,
  term     bigint NOT NULL DEFAULT 0
);

-- Event types delivered by the webhook. Types outside its subscription do not count toward its health.
CREATE TABLE webhook_type (
  type text COLLATE "C" PRIMARY KEY
);

-- Claim of the only suspect event that may run. The deciding instance locks this row, so that no two instances let a
-- suspect run.
CREATE TABLE suspect (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  lane     text COLLATE "C",
  fence    bigint
);

INSERT INTO suspect DEFAULT VALUES;
