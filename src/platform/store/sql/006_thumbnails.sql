-- Thumbnails, created and deleted with their images. They have a separate table because a read of the image's row would
-- otherwise pass megabytes of data.
CREATE TABLE thumbnail (
  image INTEGER PRIMARY KEY REFERENCES image (seq) ON DELETE CASCADE,
  file  TEXT NOT NULL UNIQUE,          -- file name in the public URL
  data  BLOB NOT NULL                  -- WebP
) STRICT;
