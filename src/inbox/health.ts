/** State of an inbox's location before a bot uses it. */
export interface InboxProbe {
  /** False if the bot will create the inbox on its first start. */
  readonly exists: boolean;
  /** True if a bot has the inbox open. */
  readonly served: boolean;
}

/** Health of a store. Checking changes nothing. */
export type StoreHealth = FileHealth | ServerHealth;

/** Kind of a disk whose files are lost when the machine restarts (tmpfs) or the container is replaced (overlay). */
export type EphemeralDisk = "memory" | "container";

export interface FileHealth {
  readonly kind: "file";
  /** File permissions, as in `stat`. */
  readonly mode: number;
  /** Free space in bytes. `undefined` if the file system does not report it. */
  readonly freeBytes: number | undefined;
  /** Free space below which new events are refused, in bytes. */
  readonly minFreeBytes: number;
  readonly bytes: number;
  readonly walBytes: number;
  /** Name of the network file system, if any. */
  readonly network: string | undefined;
  /** Damage that SQLite reports. `undefined` if the file is too large to check. */
  readonly damage: readonly string[] | undefined;
}

export interface ServerHealth {
  readonly kind: "server";
  readonly version: string;
  /** Long-running transactions, which keep the server from vacuuming newer dead rows. */
  readonly longOpen: readonly {
    readonly pid: number;
    readonly application: string;
    readonly state: string;
    readonly seconds: number;
  }[];
}
