import pg from "pg";
import { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { emptyTables, type Place } from "../../support/postgres/open.ts";
import type { OpenStore } from "./trial.ts";

/** Opens inboxes in one PostgreSQL schema, one after another. Each begins with empty tables. */
export async function postgresStoreAt(
  place: Place,
): Promise<{ readonly open: OpenStore; close(): Promise<void> }> {
  const client = new pg.Client(place.url);
  await client.connect();
  await (await PostgresInbox.open(place)).close();
  const open: OpenStore = async ({ clock, maxBacklog }) => {
    const options = { ...place, clock, now: () => clock.now(), maxBacklog };
    await emptyTables(client, place);
    let inbox = await PostgresInbox.open(options);
    return {
      get inbox() {
        return inbox;
      },
      async reopen() {
        await inbox.close();
        inbox = await PostgresInbox.open(options);
      },
      async strand(lane) {
        const idle = `UPDATE ${place.schema}.lane SET ready_at = NULL, pending = 0 WHERE key = $1`;
        await client.query(idle, [lane]);
      },
      close: () => inbox.close(),
    };
  };
  return { open, close: () => client.end() };
}
