-- readable from: 1

-- Links an event to the delivery or log read that stored it, in logs and traces. See core/trace.ts.
ALTER TABLE event ADD COLUMN trace text;
