import { join } from "node:path";
import { expect, test } from "vitest";
import { SQLITE_INBOX_MODULE } from "../faces/files.ts";
import { TestProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("an open inbox does not keep its process alive", async () => {
  const file = JSON.stringify(join(temporaryFolder(), "bot.db"));
  const code = `import { SqliteInbox } from ${JSON.stringify(SQLITE_INBOX_MODULE)}; new SqliteInbox({ file: ${file} });`;
  const child = new TestProcess(["--input-type=module", "--eval", code]);
  expect(await child.exited).toMatchObject({ code: 0 });
});
