import pg from "pg";
import { onTestFinished, vi } from "vitest";
import { testStatusLoad } from "./status-load.ts";
import { emptyPlace } from "./support/postgres/open.ts";
import { postgres } from "./support/world/stores.ts";

function watchQueries(): () => readonly string[] {
  const query = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(() => query.mockRestore());
  return () => query.mock.calls.map(([statement]) => String(statement));
}

testStatusLoad("PostgreSQL", async () => postgres(await emptyPlace()), watchQueries);
