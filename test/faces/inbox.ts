export type {
  InboxFilter,
  InboxListOptions,
  InboxReport,
} from "../../src/inbox/admin.ts";
export type {
  Effects,
  NewTimer,
  StateWrite,
  StoredState,
  StoredTimer,
} from "../../src/inbox/effects.ts";
export type { EventDetails, EventSummary } from "../../src/inbox/event-records.ts";
export type { FileHealth } from "../../src/inbox/health.ts";
export {
  type Advance,
  type Claim,
  type ClaimRooms,
  type CursorMove,
  EVENT_LOG,
  type Inbox,
  type InboxStats,
  type NewEvent,
  type PutResult,
  type Retention,
  type Source,
  type StepStart,
} from "../../src/inbox/inbox.ts";
export { untimedKey } from "../../src/inbox/lateness.ts";
export { readBatch } from "../../src/inbox/read-batch.ts";
export {
  RESTORED,
  type RestoreMark,
  readRestoreMark,
  writeRestoreMark,
} from "../../src/inbox/restore-mark.ts";
export type { Candidacy, Shared, Topic } from "../../src/inbox/shared.ts";
export type { AttachedInbox } from "../../src/inbox/sql/attached.ts";
export { fromStored, shortenKey, toStored } from "../../src/inbox/stored-text.ts";
