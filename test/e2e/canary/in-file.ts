import { join } from "node:path";
import { attachInbox } from "../../faces/inbox-sqlite.ts";
import type { Place } from "./stage.ts";

/** A file of SQLite: whoever may not read it has no secret of it to learn. */
export const inFile: Place = {
  address: (folder) => `file:${join(folder, "bot.db")}`,
  open: async (address) => attachInbox(address.slice("file:".length)),
  canaries: [],
};
