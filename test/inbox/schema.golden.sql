-- user_version 8, auto_vacuum 2

CREATE INDEX event_ended ON event (done_at) WHERE state <> 'pending';

CREATE INDEX event_parked ON event (state, done_at) WHERE state = 'dead' OR state = 'discarded';

CREATE INDEX event_pending ON event (lane, ord, seq) WHERE state = 'pending';

CREATE INDEX lane_ready ON lane (ready_at) WHERE ready_at IS NOT NULL;

CREATE INDEX step_ref ON step (ref) WHERE ref IS NOT NULL;

CREATE INDEX timer_due ON timer (due_at);

CREATE TABLE attempt (
  event_id TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  fence INTEGER NOT NULL,
  number INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('failed', 'released', 'dead', 'crashed')),
  error TEXT,
  ended_at INTEGER NOT NULL,
  PRIMARY KEY (event_id, fence)
) STRICT, WITHOUT ROWID;

CREATE TABLE cursor (
  name TEXT PRIMARY KEY,
  position TEXT NOT NULL,
  term INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  lane TEXT NOT NULL,
  ord TEXT NOT NULL,
  type TEXT NOT NULL,
  body TEXT,
  source TEXT NOT NULL CHECK (source IN ('webhook', 'poll')),
  state TEXT NOT NULL CHECK (state = 'pending' OR state = 'done' OR state = 'dead' OR state = 'discarded'),
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL DEFAULT 0,
  received_at INTEGER NOT NULL,
  done_at INTEGER,
  error TEXT,
  reason TEXT
  , trace TEXT, leased_until INTEGER, begun_at INTEGER) STRICT;

CREATE TABLE lane (
  key TEXT PRIMARY KEY,
  ready_at INTEGER,
  done_ord TEXT,
  done_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE resting_lane (
  key TEXT PRIMARY KEY,
  done_ord TEXT,
  done_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE state (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  version TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE "step" (
  event_id TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done')),
  request TEXT NOT NULL,
  result TEXT,
  ref TEXT,
  fence INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  UNIQUE (event_id, name)
) STRICT;

CREATE TABLE timer (
  lane TEXT NOT NULL,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (lane, name, key)
) STRICT;

CREATE TABLE webhook_type (
  type TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TRIGGER lane_wakes AFTER INSERT ON lane WHEN EXISTS (SELECT 1 FROM resting_lane WHERE key = NEW.key)
  BEGIN
  UPDATE lane SET (done_ord, done_at) = (
  SELECT coalesce(NEW.done_ord, done_ord), coalesce(NEW.done_at, done_at) FROM resting_lane WHERE key = NEW.key)
  WHERE key = NEW.key;
  END;
