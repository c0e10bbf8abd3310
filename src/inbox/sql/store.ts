/**
 * Boundary between the shared inbox code and the databases.
 *
 * Each statement has the same text for all databases. `$1` is the first value, `{now}` is the time in ms since 1970 on
 * the store's clock, and `{schema}.` precedes each table name. A value may be a list. A {@link Dialect} contains the
 * differences.
 */

import type { StorageReport } from "../admin.ts";
import type { EventState } from "../event-records.ts";

export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Statements of one transaction, in order. A script yields each statement and receives its rows. On a file, a script
 * runs without interruption inside a group commit. On a server, each statement takes one round trip.
 */
export type Script<T> = Generator<Query, T, readonly unknown[]>;

export function* query<Row>(text: string, ...values: readonly unknown[]): Script<Row[]> {
  // The row type depends on the statement, so it cannot be checked.
  return (yield { text, values }) as Row[];
}

export interface SqlWriteOptions {
  /**
   * True if a power loss may undo the write until about a second later, because the only consequence would be repeated
   * work. A crash of the process undoes nothing. Default false.
   */
  readonly mayBeLost?: boolean;
}

/** SQL that differs between databases. */
export interface Dialect {
  /** True if transactions run concurrently, so rows must be locked. Otherwise a transaction has the store to itself. */
  readonly locksRows: boolean;
  /** A query that locks a text's hash until the end of the transaction. `undefined` unless `locksRows`. */
  readonly lockText: string | undefined;
  /** A query that returns a row if the table `$1` exists. */
  readonly hasTable: string;
  /** The `FROM` and `WHERE` clauses that find a row while the claim `$1` to `$4` (lane, owner, fence, id) is leased. */
  readonly held: string;
  /** Condition for a pending event with a run whose outcome is unknown. */
  readonly isClaimed: string;
  /** Condition for a pending event with a run whose lease is valid. */
  readonly isLeased: string;
  /** Time until which an event's lane is closed for a later run. Null or in the past if it is not. */
  readonly waitEnds: string;
  /** Id of the event that a run handles in an event's lane, or null. */
  readonly runningId: string;
  /** Time when a leased event's run began. */
  readonly begunAt: string;
  /** Id of the instance that runs a leased event, or null. */
  readonly instance: string;
  /** A statement that ends the waits of the lanes `$1`, unless a run holds their leases. */
  readonly hurryLanes: string;
  /** Column for the end of a lane's lease in a query for pending events by lane, with a comma; or empty. */
  readonly leaseEnds: string;
  /** Condition for a leased lane in a query for `lane` and such a query, named `counted`. */
  readonly isLaneLeased: string;
  /** A statement that adds the events `$1` to their lanes. They are the first pending events of the lanes `$2`. */
  readonly enterLanes: string;
  /**
   * A statement that removes the events `$1` from their lanes. In the lanes `$2`, they had a run. In the lanes `$3`,
   * they were the first pending events.
   */
  readonly leaveLanes: string;
  /** Returns the SQL condition that a column equals one of the strings in a list. */
  isAnyOf(column: string, list: string): string;
  /** Returns the SQL expression for the position of one string in another, starting at 1, or 0 if not found. */
  position(part: string, text: string): string;
  /** Conditions of the indexes that together cover all events in a state. `ended` is every state except `pending`. */
  readonly indexes: Readonly<Record<EventState | "ended", readonly string[]>>;
  /** A query for the times of known webhook deliveries, `at`, in addition to the one that the cursor table has. */
  readonly deliveries: string;
  /** A query for the number of pending events, `n`, and the arrival of the oldest, `at`. */
  readonly pending: string;
}

/**
 * A database that contains an inbox. Promises reject with a `ServiceBotError` STORE_UNAVAILABLE if it does not respond.
 */
export interface SqlStore {
  readonly dialect: Dialect;
  /** Runs one read statement. */
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs one write statement. Resolves to the number of affected rows once committed. */
  write(text: string, values: readonly unknown[], options?: SqlWriteOptions): Promise<number>;
  /**
   * Runs a script in one transaction. Resolves once committed.
   *
   * @param script creates the script; may be called again if the transaction was rolled back
   */
  run<T>(script: () => Script<T>): Promise<T>;
  storage(): Promise<StorageReport>;
}
