import pg from "pg";

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

export class CursorAudit {
  readonly #options: pg.ClientConfig;

  constructor(url: string, schema: string) {
    this.#options = { connectionString: url, options: `-c search_path=${schema}` };
  }

  async begin(): Promise<void> {
    await this.#rows(AUDIT);
  }

  /** Returns the number of moves, and one sentence per wrong move. */
  async end(): Promise<{ readonly moves: number; readonly violations: readonly string[] }> {
    const [count] = await this.#rows("SELECT count(*)::integer AS n FROM cursor_audit");
    const wrong = await this.#rows(WRONG);
    const violations = wrong.map(
      ({ term, leads, before }) =>
        `stale: term ${term} moved the cursor after term ${before}, and term ${leads} leads`,
    );
    return { moves: Number(count?.["n"]), violations };
  }

  async #rows(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(this.#options);
    await client.connect();
    try {
      const { rows } = await client.query(text);
      return rows ?? [];
    } finally {
      await client.end();
    }
  }
}
