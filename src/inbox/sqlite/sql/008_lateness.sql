-- A lane in use may name an event with a smaller id than its resting row, whose event ended too long ago to count.
DROP TRIGGER lane_wakes;
CREATE TRIGGER lane_wakes AFTER INSERT ON lane WHEN EXISTS (SELECT 1 FROM resting_lane WHERE key = NEW.key)
BEGIN
  UPDATE lane SET (done_ord, done_at) = (
    SELECT coalesce(NEW.done_ord, done_ord), coalesce(NEW.done_at, done_at) FROM resting_lane WHERE key = NEW.key)
  WHERE key = NEW.key;
END;
