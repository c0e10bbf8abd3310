-- readable from: 1

-- When the lane's last claim began, for display while the lane has an owner.
ALTER TABLE lane ADD COLUMN begun_at bigint;
