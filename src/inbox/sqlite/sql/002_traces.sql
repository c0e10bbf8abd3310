-- What joins an event to the delivery or the reading that brought it, in the log and in the traces: see core/trace.ts.
ALTER TABLE event ADD COLUMN trace TEXT;
