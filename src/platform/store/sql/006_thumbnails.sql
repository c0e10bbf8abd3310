-- The small preview of an image, made when the image comes; it goes with it. In a table of its own, for
-- in the row of the image it would be behind megabytes of data.
CREATE TABLE thumbnail (
  image INTEGER PRIMARY KEY REFERENCES image (seq) ON DELETE CASCADE,
  file  TEXT NOT NULL UNIQUE,          -- its name in the public address
  data  BLOB NOT NULL                  -- WebP
) STRICT;
