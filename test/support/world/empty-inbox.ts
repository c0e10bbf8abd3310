import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openFile } from "../../faces/inbox-sqlite.ts";
import { temporaryFolder } from "../temporary-folder.ts";

let bytes: Buffer | undefined;

/** Creates the file of an inbox that a bot has opened before. Copying it is faster than its migrations. */
export function emptyInbox(): string {
  const file = join(temporaryFolder(), "bot.db");
  if (bytes === undefined) {
    openFile(file).close();
    bytes = readFileSync(file);
  } else writeFileSync(file, bytes, { mode: 0o600 });
  return file;
}
