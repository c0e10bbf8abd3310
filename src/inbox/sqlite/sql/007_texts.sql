-- Keys are stored as inbox/stored-text.ts describes. Earlier versions stored them unchanged, so only keys with NUL or
-- the escape character (26) change. The connection defines the function `stored_text`.
PRAGMA defer_foreign_keys = ON;

UPDATE event SET id = stored_text(id), lane = stored_text(lane), ord = stored_text(ord), type = stored_text(type)
WHERE instr(id || lane || type, char(0)) OR instr(id || lane || type, char(26));
UPDATE attempt SET event_id = stored_text(event_id)
WHERE instr(event_id, char(0)) OR instr(event_id, char(26));
UPDATE step SET event_id = stored_text(event_id), name = stored_text(name), ref = stored_text(ref)
WHERE instr(event_id || name || coalesce(ref, ''), char(0)) OR instr(event_id || name || coalesce(ref, ''), char(26));
UPDATE lane SET key = stored_text(key), done_ord = stored_text(done_ord)
WHERE instr(key || coalesce(done_ord, ''), char(0)) OR instr(key || coalesce(done_ord, ''), char(26));
UPDATE resting_lane SET key = stored_text(key), done_ord = stored_text(done_ord)
WHERE instr(key || coalesce(done_ord, ''), char(0)) OR instr(key || coalesce(done_ord, ''), char(26));
UPDATE cursor SET position = stored_text(position)
WHERE instr(position, char(0)) OR instr(position, char(26));
UPDATE webhook_type SET type = stored_text(type)
WHERE instr(type, char(0)) OR instr(type, char(26));
UPDATE state SET key = stored_text(key), version = stored_text(version)
WHERE instr(key || version, char(0)) OR instr(key || version, char(26));
UPDATE timer SET lane = stored_text(lane), name = stored_text(name), key = stored_text(key),
  event_id = stored_text(event_id)
WHERE instr(lane || name || key || event_id, char(0)) OR instr(lane || name || key || event_id, char(26));
