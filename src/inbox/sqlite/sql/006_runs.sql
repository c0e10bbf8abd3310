-- When the last run of an event began, for display while the run handles the event.
ALTER TABLE event ADD COLUMN begun_at INTEGER; -- ms since 1970
