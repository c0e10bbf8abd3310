-- The lane is the unit of claiming. ready_at is both schedule and lease (a visibility timeout): NULL is idle, a past
-- time is claimable, and a future time is leased or waiting for a retry. This table holds active and recently active
-- lanes, stored close together. All other lanes are in resting_lane.
CREATE TABLE lane (
  key      TEXT PRIMARY KEY,
  pending  INTEGER NOT NULL DEFAULT 0,  -- a counter, because EXISTS would miss a concurrent event
  ready_at INTEGER,                     -- ms since 1970
  owner    TEXT,
  fence    INTEGER NOT NULL DEFAULT 0,
  claimed  INTEGER,                     -- seq of the last claimed event, which is running while owner is set
  done_ord TEXT,                        -- ord of the last done event, to detect late events
  done_at  INTEGER                      -- when the last event ended, ms since 1970
) STRICT, WITHOUT ROWID;

CREATE INDEX lane_ready ON lane (ready_at) WHERE ready_at IS NOT NULL;

-- Lanes that have had no events for a while. Only a sweep writes this table. A lane that receives an event again is
-- inserted into lane, and that row takes precedence. The row in this table stays, because removing it would write
-- another page.
CREATE TABLE resting_lane (
  key      TEXT PRIMARY KEY,
  fence    INTEGER NOT NULL,
  done_ord TEXT,
  done_at  INTEGER NOT NULL             -- the time when the lane came to rest, if no event has ended
) STRICT, WITHOUT ROWID;

-- When a lane wakes, continues its fences and keeps the order that detects late events.
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
  body        TEXT,                     -- NULL once deleted, some time after the event ended
  source      TEXT NOT NULL CHECK (source IN ('webhook', 'poll')),
  -- OR instead of a longer IN list, for which SQLite would build a table at each check: a third of the cost of an
  -- event.
  state       TEXT NOT NULL CHECK (state = 'pending' OR state = 'done' OR state = 'dead' OR state = 'discarded'),
  attempts    INTEGER NOT NULL DEFAULT 0, -- ended runs; a claim writes only its lane
  crashes     INTEGER NOT NULL DEFAULT 0, -- runs that ended without an outcome
  fence       INTEGER NOT NULL DEFAULT 0, -- fence of the last ended run
  received_at INTEGER NOT NULL,         -- ms since 1970
  done_at     INTEGER,
  error       TEXT,
  reason      TEXT                      -- why the event was discarded
) STRICT;

CREATE INDEX event_pending ON event (lane, ord, seq) WHERE state = 'pending';
CREATE INDEX event_ended ON event (done_at) WHERE state <> 'pending';
-- OR lets SQLite use the index for each of the two states.
CREATE INDEX event_parked ON event (state, done_at) WHERE state = 'dead' OR state = 'discarded';

-- Runs that failed, were released or crashed. An event that succeeds on the first run has no rows.
CREATE TABLE attempt (
  event_id TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  fence    INTEGER NOT NULL,
  number   INTEGER NOT NULL,            -- ctx.attempt, starting at 1
  outcome  TEXT NOT NULL CHECK (outcome IN ('failed', 'released', 'dead', 'crashed')),
  error    TEXT,
  ended_at INTEGER NOT NULL,            -- ms since 1970
  PRIMARY KEY (event_id, fence)
) STRICT, WITHOUT ROWID;

-- A row without a result is an intent. Its effect may or may not have happened.
CREATE TABLE step (
  event_id   TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('open', 'done')),
  request    TEXT NOT NULL,
  result     TEXT,
  ref        TEXT,                      -- the platform's id of the step's result
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

-- Event types delivered by the webhook. Types outside its subscription do not count toward its health.
CREATE TABLE webhook_type (
  type TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
