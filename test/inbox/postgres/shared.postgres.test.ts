import { sharedContract } from "../../contract/shared-contract.ts";
import { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { versions } from "../../support/postgres/binaries.ts";
import { emptyPlace, type Place } from "../../support/postgres/open.ts";

for (const version of versions) {
  // The instances of one test have one clock; with the next clock comes the next test.
  const places = new WeakMap<object, Promise<Place>>();
  sharedContract(`PostgreSQL ${version}`, async (clock, instances) => {
    const place = places.get(clock) ?? emptyPlace(version);
    places.set(clock, place);
    const options = { ...(await place), clock, now: () => clock.now() };
    const inboxes = await Promise.all(
      Array.from({ length: instances }, () => PostgresInbox.open(options)),
    );
    return inboxes;
  });
}
