/**
 * The seam between what every inbox does and the database below it.
 *
 * Statements are one text for all: `$1` is the first value, `{now}` the time in milliseconds since 1970 on the store's
 * clock, and `{schema}.` stands before each table. Lists are values, too. A {@link Dialect} has the words that differ.
 */

import type { EventState, StorageReport } from "../admin.ts";

/** A statement with its values. */
export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * The statements of one transaction, in turn: a script yields each, and gets its rows. A file runs a script without a
 * pause, inside a group commit; a server answers each statement in a round trip of its own.
 */
export type Script<T> = Generator<Query, T, readonly unknown[]>;

/** Runs one statement of a script. */
export function* query<Row>(text: string, ...values: readonly unknown[]): Script<Row[]> {
  // The rows are as the statement has them, which no type can check.
  return (yield { text, values }) as Row[];
}

/** The words in which databases differ. */
export interface Dialect {
  /**
   * True when several transactions are at work at once, so that rows have to be locked. Otherwise a transaction has the
   * store to itself.
   */
  readonly locksRows: boolean;
  /** Locks a text, by its hash, until the end of the transaction. `undefined` unless `locksRows`. */
  readonly lockText: string | undefined;
  /** A query that has a row if there is the table `$1`. */
  readonly hasTable: string;
  /** A condition: the column is one of the texts in a list. */
  isAnyOf(column: string, list: string): string;
  /** The position of a text in another, from 1 up; 0 if it is not in it. */
  position(part: string, text: string): string;
  /** The condition of each index that together have the events of a state; `ended` is every state but `pending`. */
  readonly indexes: Readonly<Record<EventState | "ended", readonly string[]>>;
  /** A query about the pending events: `n` is their number, and `at` when the oldest was received. */
  readonly pending: string;
}

/** A database with an inbox in it. Promises reject with a `ServiceBotError` STORE_UNAVAILABLE if it cannot answer. */
export interface SqlStore {
  readonly dialect: Dialect;
  /** Runs one statement that reads. */
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs one statement that writes. Resolves to the number of its rows, once they are committed. */
  write(text: string, values: readonly unknown[]): Promise<number>;
  /**
   * Runs a script in one transaction, and resolves once that is committed.
   *
   * @param script makes the script; it may be called again if the transaction was undone
   */
  run<T>(script: () => Script<T>): Promise<T>;
  storage(): Promise<StorageReport>;
}
