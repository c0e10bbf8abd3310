import { join } from "node:path";
import { attachInbox } from "../../faces/inbox-sqlite.ts";
import type { Place } from "./stage.ts";

/** A file needs no password, so it adds no secrets. */
export const inFile: Place = {
  address: (folder) => `file:${join(folder, "bot.db")}`,
  open: async (address) => attachInbox(address.slice("file:".length)),
  canaries: [],
};
