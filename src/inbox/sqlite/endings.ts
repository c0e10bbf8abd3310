import type { Database } from "better-sqlite3";
import type { Advance, Claim } from "../inbox.ts";
import { SUSPECT_CRASHES } from "../sql/crashes.ts";
import { HEAD, HELD, type HeadRow, isLate, toClaim, type Values } from "./claims.ts";
import type { History } from "./history.ts";
import type { Writer } from "./intake.ts";

/** A lane that a claim still holds, and the place of the claim's event in it. */
interface HeldRow {
  readonly ready_at: number;
  readonly done_ord: string | null;
  readonly seq: number;
  readonly ord: string;
}

const ended = (change: string) =>
  `UPDATE event SET ${change}, done_at = ?, attempts = attempts + 1, fence = ? WHERE seq = ?`;

const statementsOf = (db: Database) => ({
  find: db.prepare<Values, HeldRow>(
    `SELECT lane.ready_at, lane.done_ord, event.seq, event.ord
     FROM lane CROSS JOIN event ON event.seq = lane.claimed WHERE ${HELD}`,
  ),
  head: db.prepare<Values, HeadRow>(HEAD),
  done: db.prepare<Values>(ended("state = 'done', error = NULL")),
  dead: db.prepare<Values>(ended("state = 'dead', error = ?")),
  goOn: db.prepare<Values>(
    `UPDATE lane SET pending = pending - 1, fence = fence + 1, claimed = ?, done_at = ?,
       done_ord = max(coalesce(done_ord, ''), ?)
     WHERE key = ?`,
  ),
  letGo: db.prepare<Values>(
    `UPDATE lane SET pending = pending - 1, owner = NULL, ready_at = CASE WHEN pending > 1 THEN ? END,
       done_at = ?, done_ord = max(coalesce(done_ord, ''), ?)
     WHERE key = ?`,
  ),
  close: db.prepare<Values>(`UPDATE lane SET owner = NULL, ready_at = ? WHERE ${HELD}`),
  putOff: db.prepare<Values>(
    "UPDATE event SET attempts = attempts + ?, fence = ?, error = coalesce(?, error) WHERE id = ?",
  ),
});

export interface EndingsOptions {
  readonly db: Database;
  readonly owner: string;
  readonly history: History;
  readonly writer: Writer;
  /** Called for each event that has ended. */
  readonly onEnded: () => void;
}

/** Records the outcomes of runs, and lets their lanes go or go on. */
export class SqliteEndings {
  readonly #owner: string;
  readonly #history: History;
  readonly #writer: Writer;
  readonly #onEnded: () => void;
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor({ db, owner, history, writer, onEnded }: EndingsOptions) {
    this.#owner = owner;
    this.#history = history;
    this.#writer = writer;
    this.#onEnded = onEnded;
    this.#sql = statementsOf(db);
  }

  async end(claim: Claim, error?: string): Promise<boolean> {
    const ended = await this.#writer.writeWithLanes((now) => this.#end(claim, now, error));
    if (ended) this.#onEnded();
    return ended;
  }

  async advance(claim: Claim): Promise<Advance> {
    const advance = await this.#writer.writeWithLanes((now) => this.#advance(claim, now));
    if (advance.held) this.#onEnded();
    return advance;
  }

  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#writer.write((now) => {
      if (!this.#close(claim, now + delayMs)) return false;
      this.#sql.putOff.run(1, claim.fence, error, claim.id);
      this.#history.add(claim, "failed", error, now);
      return true;
    });
  }

  release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    return this.#writer.write((now) => {
      if (!this.#close(claim, now + delayMs)) return false;
      if (error === undefined) return true;
      this.#sql.putOff.run(0, claim.fence, null, claim.id);
      this.#history.add(claim, "released", error, now);
      return true;
    });
  }

  #end(claim: Claim, now: number, error?: string): boolean {
    const held = this.#sql.find.get(...this.#key(claim));
    if (held === undefined) return false;
    if (error === undefined) this.#sql.done.run(now, claim.fence, held.seq);
    else {
      this.#sql.dead.run(error, now, claim.fence, held.seq);
      this.#history.add(claim, "dead", error, now);
    }
    this.#sql.letGo.run(now, now, held.ord, claim.lane);
    return true;
  }

  #advance(claim: Claim, now: number): Advance {
    const held = this.#sql.find.get(...this.#key(claim));
    if (held === undefined) return { held: false };
    this.#sql.done.run(now, claim.fence, held.seq);
    const head = this.#sql.head.get(claim.lane);
    // A lease that has run out cannot go on. Whether a suspect may run is decided when its lane is claimed.
    if (head === undefined || head.crashes >= SUSPECT_CRASHES || held.ready_at <= now) {
      this.#sql.letGo.run(now, now, held.ord, claim.lane);
      return { held: true };
    }
    this.#sql.goOn.run(head.seq, now, held.ord, claim.lane);
    const late = isLate(head.ord, held.done_ord) || head.ord < held.ord;
    return { held: true, next: toClaim(claim.lane, claim.fence + 1, late, head, 0) };
  }

  #close(claim: Claim, at: number): boolean {
    return this.#sql.close.run(at, ...this.#key(claim)).changes > 0;
  }

  /** The values of {@link HELD}. */
  #key({ lane, fence }: Claim): [lane: string, owner: string, fence: number] {
    return [lane, this.#owner, fence];
  }
}
