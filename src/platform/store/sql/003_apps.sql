-- An app is a bot with its tokens, its webhook and its part of the event log. The bot with the lowest number is the
-- default.
CREATE TABLE app (
  bot      INTEGER PRIMARY KEY REFERENCES user (seq),
  disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1))
) STRICT;

INSERT INTO app (bot) SELECT seq FROM user WHERE is_bot = 1;

-- A token is identified by its number, because the full token is shown only once.
CREATE TABLE new_token (
  seq      INTEGER PRIMARY KEY,
  api_key  TEXT NOT NULL UNIQUE,
  scopes   TEXT NOT NULL,              -- a JSON array
  standard INTEGER NOT NULL CHECK (standard IN (0, 1)),
  bot      INTEGER NOT NULL REFERENCES app (bot)
) STRICT;

INSERT INTO new_token (api_key, scopes, standard, bot)
  SELECT api_key, scopes, standard, bot FROM token ORDER BY bot, standard DESC, api_key;
DROP TABLE token;
ALTER TABLE new_token RENAME TO token;
CREATE UNIQUE INDEX one_standard_token ON token (standard) WHERE standard = 1;
CREATE INDEX token_of_bot ON token (bot, seq);

-- One webhook per app. Bots without a webhook get a disabled one.
CREATE TABLE new_webhook (
  bot                  INTEGER PRIMARY KEY REFERENCES app (bot),
  url                  TEXT,
  types                TEXT NOT NULL,  -- a JSON array; empty means all types
  secret               TEXT NOT NULL,
  enabled              INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  consecutive_failures INTEGER NOT NULL,
  disabled_reason      TEXT,
  CHECK (enabled = 0 OR url IS NOT NULL)
) STRICT;

INSERT INTO new_webhook
  SELECT (SELECT min(bot) FROM app), url, types, secret, enabled, consecutive_failures, disabled_reason
  FROM webhook;
INSERT INTO new_webhook
  SELECT bot, NULL, '[]', 'whsec_' || lower(hex(randomblob(24))), 0, 0, NULL FROM app
  WHERE bot NOT IN (SELECT bot FROM new_webhook);
DROP TABLE webhook;
ALTER TABLE new_webhook RENAME TO webhook;

-- All logs share one sequence of numbers, and each event belongs to one bot. Existing events belong to the first bot.
CREATE TABLE new_event (
  seq        INTEGER PRIMARY KEY,
  recipient  INTEGER NOT NULL REFERENCES app (bot),
  type       TEXT NOT NULL,
  payload    TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE new_pending_delivery (
  bot   INTEGER NOT NULL REFERENCES webhook (bot),
  event INTEGER NOT NULL REFERENCES new_event (seq),
  PRIMARY KEY (bot, event)
) STRICT, WITHOUT ROWID;

INSERT INTO new_event
  SELECT seq, (SELECT min(bot) FROM app), type, payload, created_at FROM event ORDER BY seq;
INSERT INTO new_pending_delivery
  SELECT (SELECT min(bot) FROM app), event FROM pending_delivery;
DROP TABLE pending_delivery;
DROP TABLE event;
ALTER TABLE new_event RENAME TO event;
ALTER TABLE new_pending_delivery RENAME TO pending_delivery;

-- A page starts in the middle of a log of any length. The second index is for tokens that may read only direct
-- messages, or only other events.
CREATE INDEX event_of_recipient ON event (recipient, seq);
CREATE INDEX event_of_recipient_and_kind ON event (recipient, (type = 'dm.message'), seq);

-- Number of likes, reposts, quotes and comments, by which the trending feed is sorted. The feed has only people's
-- posts. Before this version, people reacted only to the bot's posts.
ALTER TABLE post ADD COLUMN reactions INTEGER NOT NULL DEFAULT 0;
UPDATE post SET reactions = (SELECT count(*) FROM comment WHERE comment.post = post.seq);
CREATE INDEX post_trending ON post (reactions, seq);

-- Notifications for an app's owner.
CREATE TABLE notification (
  seq     INTEGER PRIMARY KEY,
  bot     INTEGER NOT NULL REFERENCES app (bot),
  at      INTEGER NOT NULL,
  type    TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT;

CREATE INDEX notification_of_bot ON notification (bot, seq);
