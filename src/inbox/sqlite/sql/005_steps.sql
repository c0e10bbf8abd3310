-- Keeps steps in the order in which they begin. Rows of recent steps then share pages, so a commit writes half as many.
CREATE TABLE new_step (
  event_id   TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('open', 'done')),
  request    TEXT NOT NULL,
  result     TEXT,
  ref        TEXT,                      -- the platform's id of the step's result
  fence      INTEGER NOT NULL,
  started_at INTEGER NOT NULL,          -- ms since 1970
  UNIQUE (event_id, name)
) STRICT;

INSERT INTO new_step (event_id, name, state, request, result, ref, fence, started_at)
SELECT event_id, name, state, request, result, ref, fence, started_at FROM step;

DROP TABLE step;
ALTER TABLE new_step RENAME TO step;
CREATE INDEX step_ref ON step (ref) WHERE ref IS NOT NULL;
