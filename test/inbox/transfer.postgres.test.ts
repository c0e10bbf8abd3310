import { describe, expect, test } from "vitest";
import {
  exported,
  fileStore,
  filled,
  imported,
  type LaneRow,
  made,
  SELECT_LANES,
  type TransferStore,
  transferContract,
} from "../contract/inbox-transfer.ts";
import { attachPostgres, PostgresInbox } from "../faces/inbox-postgres.ts";
import { look } from "../support/postgres/look.ts";
import { emptyPlace } from "../support/postgres/open.ts";
import { ODD } from "./copy/whole-inbox.ts";

interface ServerStore extends TransferStore {
  lanes(): Promise<readonly LaneRow[]>;
}

async function serverStore(): Promise<ServerStore> {
  const place = await emptyPlace();
  return {
    open: () => PostgresInbox.open(place),
    attach: () => attachPostgres(place),
    lanes: async () => {
      const rows = await look<LaneRow>(
        place,
        `${SELECT_LANES} ${place.schema}.lane WHERE key LIKE 'dm:%' ORDER BY key COLLATE "C"`,
      );
      return rows.map((row) => ({
        ...row,
        done_at: row.done_at === null ? null : Number(row.done_at),
      }));
    },
  };
}

transferContract("PostgreSQL", serverStore);

describe("events of one inbox in another", () => {
  test("leave its lanes alike in both stores, those of discarded events too", async () => {
    const events = await filled();
    const [inFile, onServer] = [await made(fileStore()), await made(await serverStore())];
    for (const store of [inFile, onServer]) await imported(store, events);
    const lanes = inFile.lanes();
    expect(lanes).toEqual(await onServer.lanes());
    const discarded = events.filter(({ state }) => state === "discarded");
    expect(discarded.length).toBeGreaterThan(0);
    for (const { lane, endedAt } of discarded) {
      const known = lanes.find(({ key }) => key === lane);
      expect(known?.done_at).toBeGreaterThanOrEqual(endedAt ?? Number.NaN);
    }
  });

  test("are the same after a way through both stores and back", async () => {
    const events = await filled();
    expect(events.map(({ state }) => state)).toEqual(
      expect.arrayContaining(["pending", "done", "dead", "discarded"]),
    );
    expect(events.flatMap(({ steps }) => steps).length).toBeGreaterThan(2);
    expect(JSON.stringify(events)).toContain(JSON.stringify(ODD).slice(1, -1));
    const there = await made(await serverStore());
    await imported(there, events);
    const thereAgain = await exported(there);
    expect(thereAgain).toEqual(events);
    const back = await made(fileStore());
    await imported(back, thereAgain);
    expect(await exported(back)).toEqual(events);
  });
});
