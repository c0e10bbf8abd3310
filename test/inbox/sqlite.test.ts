import { inboxContract } from "../contract/inbox-contract.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";

inboxContract("SQLite", async (options) => new SqliteInbox({ file: ":memory:", ...options }));
