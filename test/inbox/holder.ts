/** Keeps an inbox open until the process is killed. Tests run this file as a process. */
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { message } from "../support/inbox-events.ts";

const inbox = new SqliteInbox({ file: process.argv[2] ?? "" });
await inbox.put([message("1")], "webhook");
process.stdout.write("stored\n");
setInterval(() => undefined, 60_000);
