/** A migration that a future version might add to the PostgreSQL schema. */
export const NEXT_POSTGRES_STEP = `
CREATE TABLE next (x integer);
ALTER TABLE instance ADD COLUMN zone text;
ALTER TABLE step ADD COLUMN note text NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN weight integer NOT NULL DEFAULT 1;
ALTER TABLE lane ADD COLUMN weight integer;
`;

/** A migration that a future version might add to the SQLite schema. */
export const NEXT_SQLITE_STEP = `
CREATE TABLE next (x INTEGER) STRICT;
ALTER TABLE step ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;
ALTER TABLE lane ADD COLUMN weight INTEGER;
`;

export function nextStepName(steps: number): string {
  return `${String(steps + 1).padStart(3, "0")}_next.sql`;
}
