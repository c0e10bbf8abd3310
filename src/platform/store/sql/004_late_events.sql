-- Events that have a number and are not in the log yet: a fault lets them be committed late. What stands
-- here is in no page and no delivery; when its time has come the row goes.
CREATE TABLE late_event (
  event  INTEGER PRIMARY KEY REFERENCES event (seq),
  due_at INTEGER NOT NULL              -- milliseconds since 1970, on the platform's clock
) STRICT;

CREATE INDEX late_event_due ON late_event (due_at);
