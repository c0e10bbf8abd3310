import { restoredTwiceContract } from "../contract/inbox-restored-twice.ts";
import { markDatabase, PostgresInbox } from "../faces/inbox-postgres.ts";
import { emptyPlace } from "../support/postgres/open.ts";

restoredTwiceContract("PostgreSQL", async () => {
  const place = await emptyPlace();
  return {
    open: () => PostgresInbox.open(place),
    restored: (mark) => markDatabase(place, mark),
  };
});
