import type { Note, Notes } from "../../shared.ts";
import type { Queries } from "../database.ts";

/** The leader's row is held until the note is written: a term that ends meanwhile waits for that. */
const WRITE = `
INSERT INTO {schema}.note (name, term, text, written_at)
SELECT name, term, $3, {now} FROM {schema}.leader WHERE name = $1 AND term = $2 FOR SHARE
ON CONFLICT (name) DO UPDATE SET term = excluded.term, text = excluded.text, written_at = excluded.written_at
RETURNING name`;

const READ = `SELECT text, {now} - written_at AS "msAgo" FROM {schema}.note WHERE name = $1`;

/** What leaders leave for the others. */
export class PostgresNotes implements Notes {
  readonly #queries: Queries;
  readonly #tell: () => void;

  /** @param tell tells the other instances that there is a new one */
  constructor(queries: Queries, tell: () => void) {
    this.#queries = queries;
    this.#tell = tell;
  }

  async write(name: string, term: number, text: string): Promise<boolean> {
    const written = await this.#queries.rows(WRITE, [name, term, text]);
    if (written.length > 0) this.#tell();
    return written.length > 0;
  }

  async read(name: string): Promise<Note | undefined> {
    const [note] = await this.#queries.rows<Note>(READ, [name]);
    return note;
  }
}
