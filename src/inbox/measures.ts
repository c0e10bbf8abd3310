/** What a monitor asks the inbox every few seconds: nothing here takes longer the more has ended. */
export interface InboxMeasures {
  readonly pending: number;
  /** When the oldest pending event was received, in milliseconds since 1970. */
  readonly oldestPendingAt: number | undefined;
  readonly dead: number;
  /** Undefined where the inbox is not on a disk of this machine. */
  readonly disk: DiskMeasures | undefined;
}

/** Sizes in bytes. */
export interface DiskMeasures {
  readonly database: number;
  /** What was committed and is not in the database file yet. */
  readonly wal: number;
  /** Undefined where the file system does not tell. */
  readonly free: number | undefined;
  /** New events are refused below this. */
  readonly minFree: number;
}
