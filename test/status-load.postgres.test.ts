import pg from "pg";
import { onTestFinished, vi } from "vitest";
import { testStatusLoad } from "./status-load.ts";
import { emptyPlace } from "./support/postgres/open.ts";

function watchQueries(): () => readonly string[] {
  const query = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(() => query.mockRestore());
  return () => query.mock.calls.map(([statement]) => String(statement));
}

testStatusLoad("PostgreSQL", async () => {
  const { url, schema } = await emptyPlace();
  return { options: { databaseUrl: url, databaseSchema: schema }, watch: watchQueries };
});
