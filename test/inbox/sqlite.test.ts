import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { inboxContract } from "../contract/inbox-contract.ts";

inboxContract("SQLite", async (options) => new SqliteInbox({ file: ":memory:", ...options }));
