-- Links an event to the delivery or the poll that stored it, in the log and in traces. See core/trace.ts.
ALTER TABLE event ADD COLUMN trace TEXT;
