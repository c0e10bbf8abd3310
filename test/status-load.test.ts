import { join } from "node:path";
import { testStatusLoad } from "./status-load.ts";
import { watchRuns } from "./support/statements.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

testStatusLoad("a file", async () => ({
  options: { databaseUrl: `file:${join(temporaryFolder(), "bot.db")}` },
  watch: watchRuns,
}));
