import { join } from "node:path";
import { attachInbox } from "../../faces/inbox-sqlite.ts";
import type { Place } from "./stage.ts";

/** Stores the inbox in a SQLite file, which needs no password and so adds no secrets. */
export const inFile: Place = {
  address: (folder) => `file:${join(folder, "bot.db")}`,
  open: async (address) => attachInbox(address.slice("file:".length)),
  canaries: [],
};
