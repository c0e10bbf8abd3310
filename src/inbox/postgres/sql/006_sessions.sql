-- readable from: 1

-- Server session that ends when the instance's process ends. NULL if the instance has none, for example behind a pooler.
ALTER TABLE instance ADD COLUMN session text;
