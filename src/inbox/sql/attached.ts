import type { InboxAdmin } from "../admin.ts";
import type { SharedReport } from "../shared.ts";
import type { Reports } from "./reports.ts";

/** An inbox that a command opens while a bot may be using it. */
export interface AttachedInbox {
  readonly admin: InboxAdmin;
  /** Reports that only commands show. They are not part of the public administration. */
  readonly reports: Reports;
  /** Returns whether a bot has the inbox open. */
  served(): Promise<boolean>;
  /** Returns the bot's instances. `undefined` if the inbox serves only one process. */
  readonly together?: (() => Promise<SharedReport>) | undefined;
  close(): Promise<void>;
}
