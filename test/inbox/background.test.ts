import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { TestProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("an open inbox does not keep its process alive", async () => {
  const module = pathToFileURL(join(import.meta.dirname, "../../src/inbox/sqlite/sqlite-inbox.ts"));
  const file = JSON.stringify(join(temporaryFolder(), "bot.db"));
  const code = `import { SqliteInbox } from "${module}"; new SqliteInbox({ file: ${file} });`;
  const child = new TestProcess(["--input-type=module", "--eval", code]);
  expect(await child.exited).toMatchObject({ code: 0 });
});
