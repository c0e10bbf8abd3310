-- An app is identified by its bot, and there may be several bots. The bot with the lowest number is the default target
-- of people's actions. The other bots own content that the first bot must not use.
DROP INDEX one_bot;

CREATE TABLE new_token (
  api_key  TEXT PRIMARY KEY,
  scopes   TEXT NOT NULL,              -- a JSON array
  standard INTEGER NOT NULL CHECK (standard IN (0, 1)),
  bot      INTEGER NOT NULL REFERENCES user (seq)
) STRICT, WITHOUT ROWID;

INSERT INTO new_token SELECT api_key, scopes, standard, (SELECT min(seq) FROM user WHERE is_bot = 1) FROM token;
DROP TABLE token;
ALTER TABLE new_token RENAME TO token;
CREATE UNIQUE INDEX one_standard_token ON token (standard) WHERE standard = 1;

-- A direct conversation has its two members in `a` and `b`, sorted by number, so that each pair has one conversation. A
-- group has neither; its members are in group_member.
CREATE TABLE new_conversation (
  seq          INTEGER PRIMARY KEY,
  a            INTEGER REFERENCES user (seq),
  b            INTEGER REFERENCES user (seq),
  last_message INTEGER REFERENCES new_message (seq),
  UNIQUE (a, b),
  CHECK (a < b),
  CHECK ((a IS NULL) = (b IS NULL))
) STRICT;

CREATE TABLE new_message (
  seq          INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES new_conversation (seq),
  author       INTEGER NOT NULL REFERENCES user (seq),
  text         TEXT NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT;

-- The two tables refer to each other, so both are copied before either is dropped.
INSERT INTO new_conversation SELECT seq, a, b, NULL FROM conversation;
INSERT INTO new_message SELECT seq, conversation, author, text, created_at FROM message;
UPDATE new_conversation SET last_message = (
  SELECT last_message FROM conversation WHERE conversation.seq = new_conversation.seq);
UPDATE conversation SET last_message = NULL;
DROP TABLE message;
DROP TABLE conversation;
ALTER TABLE new_conversation RENAME TO conversation;
ALTER TABLE new_message RENAME TO message;
CREATE INDEX conversation_newest ON conversation (last_message);
CREATE INDEX message_of_conversation ON message (conversation, seq);

CREATE TABLE group_member (
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  user         INTEGER NOT NULL REFERENCES user (seq),
  PRIMARY KEY (conversation, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE block (
  blocker INTEGER NOT NULL REFERENCES user (seq),
  blocked INTEGER NOT NULL REFERENCES user (seq),
  PRIMARY KEY (blocker, blocked)
) STRICT, WITHOUT ROWID;

-- An upload has a key until it is attached, and then a post, comment or message instead.
CREATE TABLE image (
  seq        INTEGER PRIMARY KEY,
  file       TEXT NOT NULL UNIQUE,     -- file name in the public URL
  key        TEXT UNIQUE,
  owner      INTEGER NOT NULL REFERENCES user (seq),
  kind       TEXT NOT NULL,
  width      INTEGER NOT NULL CHECK (width > 0),
  height     INTEGER NOT NULL CHECK (height > 0),
  created_at INTEGER NOT NULL,
  post       INTEGER REFERENCES post (seq),
  comment    INTEGER REFERENCES comment (seq),
  message    INTEGER REFERENCES message (seq),
  position   INTEGER,                  -- position among the content's images, starting at 0
  data       BLOB NOT NULL,            -- last, so that SQLite can read the other columns without it
  CHECK ((post IS NOT NULL) + (comment IS NOT NULL) + (message IS NOT NULL) = (key IS NULL)),
  CHECK ((position IS NULL) = (key IS NOT NULL))
) STRICT;

CREATE INDEX image_of_post ON image (post, position) WHERE post IS NOT NULL;
CREATE INDEX image_of_comment ON image (comment, position) WHERE comment IS NOT NULL;
CREATE INDEX image_of_message ON image (message, position) WHERE message IS NOT NULL;
CREATE INDEX image_unattached ON image (created_at) WHERE key IS NOT NULL;

-- Usage of an app's daily quotas. A row from an earlier day counts as 0.
CREATE TABLE usage (
  bot   INTEGER NOT NULL REFERENCES user (seq),
  quota TEXT NOT NULL,
  day   INTEGER NOT NULL,              -- days since 1970, UTC
  used  INTEGER NOT NULL,
  PRIMARY KEY (bot, quota)
) STRICT, WITHOUT ROWID;
