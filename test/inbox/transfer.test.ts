import { fileStore, transferContract } from "../contract/inbox-transfer.ts";

transferContract("SQLite", async () => fileStore());
