export { type CopyReport, copyInbox, isDifferent } from "../../src/inbox/copy/copy.ts";
export type { CopySource, CopyTarget } from "../../src/inbox/copy/stores.ts";
export { selectBatch, tables } from "../../src/inbox/copy/tables.ts";
