import { testStatusLoad } from "./status-load.ts";
import { watchRuns } from "./support/statements.ts";
import { sqlite } from "./support/world/stores.ts";

testStatusLoad("a file", async () => sqlite(), watchRuns);
