-- Events that have a number but are not in the log yet, because a fault commits them late. Pages and deliveries exclude
-- them. The row is deleted when the event is due.
CREATE TABLE late_event (
  event  INTEGER PRIMARY KEY REFERENCES event (seq),
  due_at INTEGER NOT NULL              -- milliseconds since 1970, on the platform's clock
) STRICT;

CREATE INDEX late_event_due ON late_event (due_at);
