import type { Database } from "better-sqlite3";
import type { Effects, StateWrite, StepResult, StoredState, StoredTimer } from "../effects.ts";
import type { Claim } from "../inbox.ts";
import { changesOf, STATE, TIMER, versionOf } from "../sql/effects.ts";
import { shortenKey } from "../stored-text.ts";
import { TextStatement } from "./text-statement.ts";

type Texts = string[];

const effectsIn = (db: Database) => ({
  find: new TextStatement<Texts, StoredState>(db, `SELECT ${STATE} FROM state WHERE key = ?`),
  version: new TextStatement<Texts, Pick<StoredState, "version">>(
    db,
    "SELECT version FROM state WHERE key = ?",
  ),
  keep: new TextStatement<[key: string, value: string, version: string, now: number]>(
    db,
    `INSERT INTO state (key, value, version, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version,
       updated_at = excluded.updated_at`,
  ),
  drop: new TextStatement<Texts>(db, "DELETE FROM state WHERE key = ?"),
  setTimer: new TextStatement<
    [lane: string, name: string, key: string, dueAt: number, eventId: string, body: string]
  >(
    db,
    `INSERT INTO timer (lane, name, key, due_at, event_id, body) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (lane, name, key) DO UPDATE SET due_at = excluded.due_at, event_id = excluded.event_id,
       body = excluded.body`,
  ),
  cancel: new TextStatement<Texts>(db, "DELETE FROM timer WHERE lane = ? AND name = ? AND key = ?"),
  cancelAll: new TextStatement<Texts>(db, "DELETE FROM timer WHERE lane = ? AND name = ?"),
  finish: new TextStatement<[result: string, ref: string | null, event: string, step: string]>(
    db,
    "UPDATE step SET state = 'done', result = ?, ref = ? WHERE event_id = ? AND name = ?",
  ),
});

/** Reads states, and writes the effects of runs in the transaction that ends the event. */
export class EffectWriter {
  readonly #sql: ReturnType<typeof effectsIn>;

  constructor(db: Database) {
    this.#sql = effectsIn(db);
  }

  states(keys: readonly string[]): StoredState[] {
    return [...new Set(keys)].flatMap((key) => this.#sql.find.get(key) ?? []);
  }

  /** Returns false and writes nothing if a state's version has changed since it was read. */
  write(effects: Effects, claim: Claim, now: number): boolean {
    const changes = changesOf(effects);
    if (changes.some((change) => this.#sql.version.get(change.key)?.version !== change.version))
      return false;
    for (const change of changes) this.#writeState(change, claim, now);
    for (const { lane, name, key } of effects.cancels) {
      if (key === undefined) this.#sql.cancelAll.run(lane, name);
      else this.#sql.cancel.run(lane, name, key);
    }
    for (const { lane, name, key, delayMs, eventId, body } of effects.timers) {
      this.#sql.setTimer.run(lane, name, key, now + delayMs, eventId, body);
    }
    if (effects.result !== undefined) this.#finish(effects.result, claim);
    return true;
  }

  #finish({ step, result, ref }: StepResult, { id }: Claim): void {
    this.#sql.finish.run(result, ref === undefined ? null : shortenKey(ref), id, shortenKey(step));
  }

  #writeState({ key, value }: StateWrite, claim: Claim, now: number): void {
    if (value === undefined) this.#sql.drop.run(key);
    else this.#sql.keep.run(key, value, versionOf(claim), now);
  }
}

const timersIn = (db: Database) => ({
  next: db.prepare<[], number | null>("SELECT min(due_at) FROM timer").pluck(),
  due: new TextStatement<[now: number, limit: number], StoredTimer>(
    db,
    `SELECT ${TIMER} FROM timer WHERE due_at <= ? ORDER BY due_at, lane, name, key LIMIT ?`,
  ),
  drop: new TextStatement<Texts>(db, "DELETE FROM timer WHERE lane = ? AND name = ? AND key = ?"),
});

export class Timers {
  readonly #sql: ReturnType<typeof timersIn>;

  constructor(db: Database) {
    this.#sql = timersIn(db);
  }

  /** Returns the time when the earliest timer is due, in ms since 1970, or `undefined` if there is no timer. */
  nextDueAt(): number | undefined {
    return this.#sql.next.get() ?? undefined;
  }

  /** Removes due timers, earliest first. Must be called inside a transaction. */
  takeDue(now: number, limit: number): StoredTimer[] {
    const due = this.#sql.due.all(now, limit);
    for (const { lane, name, key } of due) this.#sql.drop.run(lane, name, key);
    return due;
  }
}
