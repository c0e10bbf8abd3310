-- Rows are numbered, and API ids contain these numbers (store/ids.ts). Times are in ms since 1970.

CREATE TABLE user (
  seq      INTEGER PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  name     TEXT NOT NULL,
  is_bot   INTEGER NOT NULL CHECK (is_bot IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX one_bot ON user (is_bot) WHERE is_bot = 1;

-- The two members are sorted by number, so that each pair has one conversation.
CREATE TABLE conversation (
  seq          INTEGER PRIMARY KEY,
  a            INTEGER NOT NULL REFERENCES user (seq),
  b            INTEGER NOT NULL REFERENCES user (seq),
  last_message INTEGER REFERENCES message (seq),
  UNIQUE (a, b),
  CHECK (a < b)
) STRICT;

CREATE INDEX conversation_newest ON conversation (last_message);

CREATE TABLE message (
  seq          INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  author       INTEGER NOT NULL REFERENCES user (seq),
  text         TEXT NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX message_of_conversation ON message (conversation, seq);

CREATE TABLE post (
  seq        INTEGER PRIMARY KEY,
  author     INTEGER NOT NULL REFERENCES user (seq),
  text       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX post_of_author ON post (author, seq);

CREATE TABLE comment (
  seq        INTEGER PRIMARY KEY,
  post       INTEGER NOT NULL REFERENCES post (seq),
  author     INTEGER NOT NULL REFERENCES user (seq),
  reply_to   INTEGER REFERENCES comment (seq),
  text       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX comment_of_post ON comment (post, seq);
CREATE INDEX comment_of_author ON comment (author, seq);

-- The event log. Polling and webhook deliveries both read it.
CREATE TABLE event (
  seq        INTEGER PRIMARY KEY,
  type       TEXT NOT NULL,
  payload    TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE token (
  api_key  TEXT PRIMARY KEY,
  scopes   TEXT NOT NULL,              -- a JSON array
  standard INTEGER NOT NULL CHECK (standard IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_standard_token ON token (standard) WHERE standard = 1;

-- At most one row, because an app has at most one webhook.
CREATE TABLE webhook (
  id                   INTEGER PRIMARY KEY CHECK (id = 1),
  url                  TEXT,
  types                TEXT NOT NULL,  -- a JSON array; empty means all types
  secret               TEXT NOT NULL,
  enabled              INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  consecutive_failures INTEGER NOT NULL,
  disabled_reason      TEXT,
  CHECK (enabled = 0 OR url IS NOT NULL)
) STRICT;

-- Pending webhook deliveries. An event is added if the webhook is enabled and subscribes to its type. It is removed
-- when it is delivered or the webhook is disabled.
CREATE TABLE pending_delivery (
  event INTEGER PRIMARY KEY REFERENCES event (seq)
) STRICT;
