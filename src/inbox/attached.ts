import type { InboxAdmin } from "./admin.ts";
import type { SharedReport } from "./shared.ts";

/** The administration of a bot's inbox from outside of the bot. */
export interface AttachedInbox {
  readonly admin: InboxAdmin;
  /** True when a bot has the inbox open now. */
  served(): Promise<boolean>;
  /** What the bot's instances do together; undefined where only one can use the inbox. */
  readonly together?: (() => Promise<SharedReport>) | undefined;
  close(): Promise<void>;
}
