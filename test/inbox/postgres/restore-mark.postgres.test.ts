import { expect, onTestFinished, test } from "vitest";
import { RESTORED, type RestoreMark, readRestoreMark } from "../../faces/inbox.ts";
import { markDatabase } from "../../faces/inbox-postgres.ts";
import { message } from "../../support/inbox-events.ts";
import { listening } from "../../support/postgres/listening.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt } from "../../support/postgres/open.ts";

const mark: RestoreMark = { at: 1_800_000_000_000 };

test("an inbox in PostgreSQL that was restored is marked where it is, and anew", async () => {
  const place = await emptyPlace();
  const before = await openAt(place);
  await before.put([message("1")], "webhook");
  await before.close();
  const marking = await markDatabase(place, mark);
  expect(marking).toMatchObject({ events: 1, pending: 1 });
  await markDatabase(place, { ...mark, until: 1 });
  const inbox = await openAt(place);
  onTestFinished(() => inbox.close());
  const position = await inbox.cursor(RESTORED);
  expect(readRestoreMark(position)).toEqual({ ...mark, until: 1 });
});

test("not while a bot uses it, or one seems to that a backup remembers", async () => {
  const place = await emptyPlace();
  const inbox = await openAt(place);
  await listening(place, 1);
  const inUse = { code: "INBOX_IN_USE", message: expect.stringContaining("15 s") };
  await expect(markDatabase(place, mark)).rejects.toMatchObject(inUse);
  await inbox.shared.beat({ host: "h", pid: 1, version: "1.0.0" }, undefined);
  await inbox.close();
  await expect(markDatabase(place, mark)).rejects.toMatchObject(inUse);
  await look(place, `UPDATE ${place.schema}.instance SET seen_at = seen_at - 15000`);
  expect(await markDatabase(place, mark)).toMatchObject({ events: 0 });
});

test("nor where there is no inbox", async () => {
  const place = await emptyPlace();
  await expect(markDatabase(place, mark)).rejects.toMatchObject({ code: "INBOX_MISSING" });
});
