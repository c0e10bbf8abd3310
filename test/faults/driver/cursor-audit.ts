import { look } from "../../support/postgres/look.ts";
import type { Place } from "../../support/postgres/open.ts";

/** A database trigger that records each cursor move with its term and the leader's term at that time. */
const AUDIT = `
CREATE TABLE IF NOT EXISTS cursor_audit (
  seq bigint GENERATED ALWAYS AS IDENTITY, term bigint NOT NULL, leads bigint
);
CREATE OR REPLACE FUNCTION audit_cursor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO cursor_audit (term, leads)
  SELECT NEW.term, (SELECT term FROM leader WHERE name = NEW.name) WHERE NEW.term > 0;
  RETURN NEW;
END $$ SET search_path FROM CURRENT;
CREATE OR REPLACE TRIGGER audit AFTER INSERT OR UPDATE ON cursor
FOR EACH ROW EXECUTE FUNCTION audit_cursor()`;

/** Selects moves in a term that was not the leader's, or that was older than the previous move's term. */
const WRONG = `
SELECT term, leads, before FROM (
  SELECT term, leads, lag(term) OVER (ORDER BY seq) AS before FROM cursor_audit
) AS moves WHERE leads IS DISTINCT FROM term OR before > term`;

/** Records each move of the cursor from now on. The inbox must have its tables. */
export async function watchCursors(place: Place): Promise<void> {
  await look(within(place), AUDIT);
}

/** Returns the number of moves, and one sentence per wrong move. */
export async function auditCursors(
  place: Place,
): Promise<{ readonly moves: number; readonly violations: readonly string[] }> {
  const [count] = await look(within(place), "SELECT count(*)::integer AS n FROM cursor_audit");
  const wrong = await look(within(place), WRONG);
  const violations = wrong.map(
    ({ term, leads, before }) =>
      `stale: term ${term} moved the cursor after term ${before}, and term ${leads} leads`,
  );
  return { moves: Number(count?.["n"]), violations };
}

/** Names the schema in the URL, so that statements need not. */
function within({ url, schema }: Place): { readonly url: string } {
  return { url: `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}` };
}
