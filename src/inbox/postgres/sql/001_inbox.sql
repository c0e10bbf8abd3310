-- readable from: 1

-- Keys compare byte by byte, as they do in SQLite and in JavaScript, whatever the database's locale is.

-- The lane is the unit of claiming. ready_at is schedule and lease in one (a visibility timeout):
-- NULL is idle; in the past, claimable; in the future, leased or waiting for a retry.
CREATE TABLE lane (
  key      text COLLATE "C" PRIMARY KEY,
  pending  integer NOT NULL DEFAULT 0,  -- a counter: EXISTS would strand an event that arrives meanwhile
  ready_at bigint,                      -- ms since 1970, on the database's clock, as all times are
  owner    text,
  fence    bigint NOT NULL DEFAULT 0,
  claimed  bigint,                      -- seq of the event of its last claim; its run goes on while there is an owner
  done_ord text COLLATE "C",            -- ord of the last event done, to tell late ones
  done_at  bigint                       -- when its last event ended
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX lane_ready ON lane (ready_at, key) WHERE ready_at IS NOT NULL;
CREATE INDEX lane_idle ON lane (done_at) WHERE ready_at IS NULL;

CREATE TABLE event (
  seq         bigint GENERATED ALWAYS AS IDENTITY,
  id          text COLLATE "C" PRIMARY KEY,
  lane        text COLLATE "C" NOT NULL,
  ord         text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  body        text,                     -- not jsonb, which refuses what JSON permits; NULL once it was dropped
  source      text NOT NULL CHECK (source IN ('webhook', 'poll')),
  state       text NOT NULL CHECK (state IN ('pending', 'done', 'dead', 'discarded')),
  attempts    integer NOT NULL DEFAULT 0, -- runs that have ended: a claim writes its lane alone
  crashes     integer NOT NULL DEFAULT 0, -- runs that never said how they ended
  fence       bigint NOT NULL DEFAULT 0,  -- of its last run that has ended
  received_at bigint NOT NULL,
  done_at     bigint,
  error       text,
  reason      text                      -- why it was discarded
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX event_pending ON event (lane, ord, seq) WHERE state = 'pending';
-- Each ended event is in one of these: an index that more rows are in makes every ending dearer.
CREATE INDEX event_whole ON event (done_at, seq) WHERE state IN ('done', 'discarded') AND body IS NOT NULL;
CREATE INDEX event_bare ON event (done_at, seq) WHERE state IN ('done', 'discarded') AND body IS NULL;
CREATE INDEX event_parked ON event (state, done_at, seq) WHERE state IN ('dead', 'discarded');

-- What belongs to an event has no foreign key: it would be looked at whenever an event ends, and lock the event for
-- each step. It is written under the lease of the event alone, and goes before the event does.

-- Runs that did not end well; an event that is handled at once has none.
CREATE TABLE attempt (
  event_id text COLLATE "C" NOT NULL,
  fence    bigint NOT NULL,
  number   integer NOT NULL,            -- as the handler saw it, from 1 up
  outcome  text NOT NULL CHECK (outcome IN ('failed', 'released', 'dead', 'crashed')),
  error    text,
  ended_at bigint NOT NULL,
  PRIMARY KEY (event_id, fence)
);

-- A row without a result is an intent: the effect may or may not have happened.
CREATE TABLE step (
  event_id   text COLLATE "C" NOT NULL,
  name       text COLLATE "C" NOT NULL,
  state      text NOT NULL CHECK (state IN ('open', 'done')),
  request    text NOT NULL,
  result     text,
  ref        text COLLATE "C",          -- the platform's id of what the step made
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

-- The event types that came by webhook: types outside its subscription say nothing about its health.
CREATE TABLE webhook_type (
  type text COLLATE "C" PRIMARY KEY
);

-- The claim of the one event that may run although its runs have ended with the process before. Whoever
-- lets one run holds this row, so that no two instances let two.
CREATE TABLE suspect (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  lane     text COLLATE "C",
  fence    bigint
);

INSERT INTO suspect DEFAULT VALUES;
