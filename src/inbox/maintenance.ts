/** Work of commands on an inbox that a bot may be using: attach to it, probe its place, look at its store. */

import type { InboxAdmin } from "./admin.ts";
import type { SharedReport } from "./shared.ts";

/** The administration of a bot's inbox from another process. */
export interface AttachedInbox {
  readonly admin: InboxAdmin;
  /** True if a bot has the inbox open now. */
  served(): Promise<boolean>;
  /** The bot's instances; `undefined` if one process alone can use the inbox. */
  readonly together?: (() => Promise<SharedReport>) | undefined;
  close(): Promise<void>;
}

/** The place of an inbox, before a bot uses it. */
export interface InboxProbe {
  /** False if the bot will make it at its first start. */
  readonly exists: boolean;
  /** True if a bot has it open now. */
  readonly served: boolean;
}

/** Signs of trouble to come. Nothing is changed to find them. */
export type StoreHealth = FileHealth | ServerHealth;

export interface FileHealth {
  readonly kind: "file";
  /** Permissions of the file, as `stat` has them. */
  readonly mode: number;
  /** `undefined` if the file system does not report it. */
  readonly freeBytes: number | undefined;
  /** New events are refused when less than this is free. */
  readonly minFreeBytes: number;
  readonly bytes: number;
  readonly walBytes: number;
  /** The name of a file system on another machine. */
  readonly network: string | undefined;
  /** Damage that SQLite finds; `undefined` if the file is too large to be looked through. */
  readonly damage: readonly string[] | undefined;
}

export interface ServerHealth {
  readonly kind: "server";
  readonly version: string;
  /** Transactions that have been open for long. The server cleans up only what is older than they are. */
  readonly longOpen: readonly {
    readonly pid: number;
    readonly application: string;
    readonly state: string;
    readonly seconds: number;
  }[];
}
