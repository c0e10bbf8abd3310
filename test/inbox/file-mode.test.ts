import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { messages } from "../support/inbox-events.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const modesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]),
  );

async function used(folder: string): Promise<Record<string, number>> {
  const inbox = openSqlite({ file: join(folder, "bot.db") });
  await inbox.put(messages("1"), "webhook");
  return modesIn(folder);
}

test.skipIf(process.platform === "win32")(
  "the files of a new inbox are their owner's alone",
  async () => {
    const modes = await used(temporaryFolder());
    expect(Object.keys(modes)).toEqual(
      expect.arrayContaining(["bot.db", "bot.db-lock", "bot.db-wal"]),
    );
    expect(new Set(Object.values(modes))).toEqual(new Set([0o600]));
  },
);

test.skipIf(process.platform === "win32")(
  "files that are there keep their mode, and hand it on",
  async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "bot.db"), "");
    chmodSync(join(folder, "bot.db"), 0o640);
    expect(await used(folder)).toMatchObject({
      ...{ "bot.db": 0o640, "bot.db-wal": 0o640, "bot.db-lock": 0o600 },
    });
  },
);
