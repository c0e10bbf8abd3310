/** What of a store may be trouble to come. Nothing is changed to find it out. */
export type StoreHealth = FileHealth | ServerHealth;

export interface FileHealth {
  readonly kind: "file";
  /** What other processes of this machine may do with it, as `stat` has it. */
  readonly mode: number;
  /** Undefined where the file system does not tell. */
  readonly freeBytes: number | undefined;
  /** New events are refused when less than this is free. */
  readonly minFreeBytes: number;
  readonly bytes: number;
  readonly walBytes: number;
  /** The name of the file system, where it is one that lies on another machine. */
  readonly network: string | undefined;
  /** What SQLite finds wrong; empty when nothing is, undefined when the file is too large to be looked through. */
  readonly damage: readonly string[] | undefined;
}

export interface ServerHealth {
  readonly kind: "server";
  readonly version: string;
  /** Transactions that have been open for long, and what may be cleaned up only when they end. */
  readonly longOpen: readonly {
    readonly pid: number;
    readonly application: string;
    readonly state: string;
    readonly seconds: number;
  }[];
}
