-- Only one process uses the file, so its leases are in memory. Each event that is being handled names its run, because
-- the next start must count the runs that a crash has ended.
ALTER TABLE event ADD COLUMN leased_until INTEGER; -- ms since 1970, while a run with this fence handles the event
UPDATE event SET (fence, leased_until) = (SELECT fence, ready_at FROM lane WHERE lane.key = event.lane)
WHERE state = 'pending' AND seq IN (SELECT claimed FROM lane WHERE owner IS NOT NULL AND ready_at IS NOT NULL);
UPDATE lane SET ready_at = 0 WHERE owner IS NOT NULL AND ready_at IS NOT NULL;

-- `fence` is the first unused fence. No two claims in the file have the same fence.
-- `lanes` is a time in ms since 1970. The rows of the lanes include every event that ended earlier.
INSERT INTO cursor (name, position) VALUES
  ('fence', (SELECT 1 + max(
    (SELECT coalesce(max(fence), 0) FROM lane),
    (SELECT coalesce(max(fence), 0) FROM resting_lane),
    (SELECT coalesce(max(fence), 0) FROM event WHERE state = 'dead' OR state = 'discarded')))),
  ('lanes', (SELECT 1 + coalesce(max(done_at), 0) FROM event WHERE state <> 'pending'));

-- A time now means that the lane has pending events, and no run is handling them. Lanes with recent events may wait in
-- memory instead.
DROP TRIGGER lane_wakes;
ALTER TABLE lane DROP COLUMN pending;
ALTER TABLE lane DROP COLUMN owner;
ALTER TABLE lane DROP COLUMN fence;
ALTER TABLE lane DROP COLUMN claimed;
ALTER TABLE resting_lane DROP COLUMN fence;

CREATE TRIGGER lane_wakes AFTER INSERT ON lane WHEN EXISTS (SELECT 1 FROM resting_lane WHERE key = NEW.key)
BEGIN
  UPDATE lane SET (done_ord, done_at) = (
    SELECT max(coalesce(NEW.done_ord, ''), coalesce(done_ord, '')), coalesce(NEW.done_at, done_at)
    FROM resting_lane WHERE key = NEW.key)
  WHERE key = NEW.key;
END;
