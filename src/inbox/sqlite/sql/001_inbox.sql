-- The lane is the unit of claiming. ready_at is schedule and lease in one (a visibility timeout):
-- NULL is idle; in the past, claimable; in the future, leased or waiting for a retry.
-- Here are the lanes that are at work or were of late, close together; the others are in resting_lane.
CREATE TABLE lane (
  key      TEXT PRIMARY KEY,
  pending  INTEGER NOT NULL DEFAULT 0,  -- a counter: EXISTS would strand an event that arrives meanwhile
  ready_at INTEGER,                     -- ms since 1970
  owner    TEXT,
  fence    INTEGER NOT NULL DEFAULT 0,
  claimed  INTEGER,                     -- seq of the event of its last claim; its run goes on while there is an owner
  done_ord TEXT,                        -- ord of the last event done, to tell late ones
  done_at  INTEGER                      -- when its last event ended, ms since 1970
) STRICT, WITHOUT ROWID;

CREATE INDEX lane_ready ON lane (ready_at) WHERE ready_at IS NOT NULL;

-- What is known of lanes in which nothing has happened for a while. Only a sweep writes it: a lane that gets an event again is
-- made anew in lane, which says what holds from then on, and leaves its row here as it is, for that would cost a page.
CREATE TABLE resting_lane (
  key      TEXT PRIMARY KEY,
  fence    INTEGER NOT NULL,
  done_ord TEXT,
  done_at  INTEGER NOT NULL             -- or when it came to rest, where none of its events has ended
) STRICT, WITHOUT ROWID;

-- Whoever makes a lane: its fences go on, and late events are told. What already is in lane is not inserted.
CREATE TRIGGER lane_wakes AFTER INSERT ON lane WHEN EXISTS (SELECT 1 FROM resting_lane WHERE key = NEW.key)
BEGIN
  UPDATE lane SET (fence, done_ord, done_at) =
    (SELECT max(NEW.fence, fence), done_ord, done_at FROM resting_lane WHERE key = NEW.key)
  WHERE key = NEW.key;
END;

CREATE TABLE event (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  lane        TEXT NOT NULL,
  ord         TEXT NOT NULL,
  type        TEXT NOT NULL,
  body        TEXT,                     -- NULL once it was dropped, some time after the event ended
  source      TEXT NOT NULL CHECK (source IN ('webhook', 'poll')),
  -- With OR: SQLite fills a table with a list of more than two each time it checks, a third of what an event costs.
  state       TEXT NOT NULL CHECK (state = 'pending' OR state = 'done' OR state = 'dead' OR state = 'discarded'),
  attempts    INTEGER NOT NULL DEFAULT 0, -- runs that have ended: a claim writes its lane alone
  crashes     INTEGER NOT NULL DEFAULT 0, -- runs that never said how they ended
  fence       INTEGER NOT NULL DEFAULT 0, -- of its last run that has ended
  received_at INTEGER NOT NULL,         -- ms since 1970
  done_at     INTEGER,
  error       TEXT,
  reason      TEXT                      -- why it was discarded
) STRICT;

CREATE INDEX event_pending ON event (lane, ord, seq) WHERE state = 'pending';
CREATE INDEX event_ended ON event (done_at) WHERE state <> 'pending';
-- With OR, for SQLite uses the index then for either of the two.
CREATE INDEX event_parked ON event (state, done_at) WHERE state = 'dead' OR state = 'discarded';

-- Runs that did not end well; an event that is handled at once has none.
CREATE TABLE attempt (
  event_id TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  fence    INTEGER NOT NULL,
  number   INTEGER NOT NULL,            -- as the handler saw it, from 1 up
  outcome  TEXT NOT NULL CHECK (outcome IN ('failed', 'released', 'dead', 'crashed')),
  error    TEXT,
  ended_at INTEGER NOT NULL,            -- ms since 1970
  PRIMARY KEY (event_id, fence)
) STRICT, WITHOUT ROWID;

-- A row without a result is an intent: the effect may or may not have happened.
CREATE TABLE step (
  event_id   TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('open', 'done')),
  request    TEXT NOT NULL,
  result     TEXT,
  ref        TEXT,                      -- the platform's id of what the step made
  fence      INTEGER NOT NULL,
  started_at INTEGER NOT NULL,          -- ms since 1970
  PRIMARY KEY (event_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX step_ref ON step (ref) WHERE ref IS NOT NULL;

CREATE TABLE cursor (
  name     TEXT PRIMARY KEY,
  position TEXT NOT NULL,
  term     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The event types that came by webhook: types outside its subscription say nothing about its health.
CREATE TABLE webhook_type (
  type TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
