import { expect, test } from "vitest";
import { emptyPlace } from "../support/postgres/open.ts";
import { compareWithModel } from "./model/model.ts";
import { postgresStoreAt } from "./model/postgres-store.ts";
import { chooseSeed } from "./random.ts";

test("random commands have the same results in PostgreSQL as in a simple model of the inbox", {
  timeout: 120_000,
}, async () => {
  const seed = chooseSeed();
  const { open, close } = await postgresStoreAt(await emptyPlace());
  try {
    expect(await compareWithModel({ runs: 12, seed, open }), `SEED=${seed}`).toBeGreaterThan(120);
  } finally {
    await close();
  }
});
