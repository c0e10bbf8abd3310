-- Separate counts of likes, reposts and quotes, and the quoted post. Before this version, one total included these
-- counts and the comments. For posts by bots, events provide the separate counts. For other posts, only the total is
-- known.
ALTER TABLE post ADD COLUMN likes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE post ADD COLUMN reposts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE post ADD COLUMN quotes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE post ADD COLUMN quoted INTEGER REFERENCES post (seq);

CREATE TEMP TABLE reaction AS
  SELECT type, CAST(substr(payload ->> 'postId', 3) AS INTEGER) AS post,
         CAST(substr(payload ->> 'entityId', 3) AS INTEGER) AS entity
  FROM event
  WHERE type IN ('like', 'repost', 'quote') AND payload ->> 'entityType' = 'post';

UPDATE post SET likes = n
  FROM (SELECT post AS of, count(*) AS n FROM reaction WHERE type = 'like' GROUP BY post)
  WHERE seq = of;
UPDATE post SET reposts = n
  FROM (SELECT post AS of, count(*) AS n FROM reaction WHERE type = 'repost' GROUP BY post)
  WHERE seq = of;
UPDATE post SET quotes = n
  FROM (SELECT post AS of, count(*) AS n FROM reaction WHERE type = 'quote' GROUP BY post)
  WHERE seq = of;
UPDATE post SET quoted = r.post
  FROM reaction r
  WHERE r.type = 'quote' AND r.entity = seq AND EXISTS (SELECT 1 FROM post q WHERE q.seq = r.post);
DROP TABLE reaction;
