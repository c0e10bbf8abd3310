import type { Row, Table } from "./tables.ts";

/** One of the two inboxes of a copy. No bot uses it meanwhile. */
export interface CopyStore {
  /** Where it is, as it may be shown: without user and password. */
  readonly place: string;
  /** Milliseconds since 1970, on the store's clock. */
  now(): Promise<number>;
  /** How many rows there are. */
  count(table: Table): Promise<number>;
  /** All rows in the order of their key, in batches. */
  read(table: Table): AsyncIterable<readonly Row[]>;
  close(): Promise<void>;
}

/** The inbox that is copied. */
export interface CopySource extends CopyStore {
  /** Where it was copied to before. */
  movedTo(): Promise<string | undefined>;
  /**
   * Keeps bots off, and ends what one that is gone has left under way.
   *
   * @param to where it is copied to
   * @throws {ServiceBotError} INBOX_IN_USE when a bot has it
   */
  hold(to: string): Promise<void>;
  /** Marks it as copied: a bot would run again what runs there. */
  leave(to: string): Promise<void>;
  /** Takes back the `hold` of this copy. */
  release(): Promise<void>;
  /** Takes back whatever copies have marked it with: bots may use it again. False when there was nothing. */
  reopen(): Promise<boolean>;
}

/** The inbox that is made. */
export interface CopyTarget extends CopyStore {
  /**
   * What is there now; undefined when it can be copied to. Changes nothing.
   *
   * @param from the place of the source, whose own unfinished copy may be replaced
   */
  obstacle(from: string): Promise<Error | undefined>;
  /** True when it is an unfinished copy. */
  unfinished(): Promise<boolean>;
  /**
   * Marks it as unfinished, so that no bot starts on it, and removes what an earlier try has left.
   *
   * @throws {ServiceBotError} INBOX_NOT_EMPTY, INBOX_UNFINISHED, INBOX_IN_USE
   */
  begin(from: string): Promise<void>;
  /** Stores rows that are not there yet. */
  write(table: Table, rows: readonly Row[]): Promise<void>;
  /** Takes the mark away: from here on it is a whole inbox. */
  finish(): Promise<void>;
}
