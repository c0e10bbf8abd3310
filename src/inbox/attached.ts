import type { InboxAdmin } from "./admin.ts";

/** The administration of a bot's inbox from outside of the bot. */
export interface AttachedInbox {
  readonly admin: InboxAdmin;
  /** True when a bot has the inbox open now. */
  served(): Promise<boolean>;
  close(): Promise<void>;
}
