-- Thumbnails, created and deleted with their images. A separate table, because in the row of the image a read would
-- pass megabytes of data.
CREATE TABLE thumbnail (
  image INTEGER PRIMARY KEY REFERENCES image (seq) ON DELETE CASCADE,
  file  TEXT NOT NULL UNIQUE,          -- its name in the public address
  data  BLOB NOT NULL                  -- WebP
) STRICT;
