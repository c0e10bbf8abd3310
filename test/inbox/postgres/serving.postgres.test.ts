import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  attachPostgres,
  CopyTarget,
  openDatabase,
  PostgresInbox,
  PROCESSES,
  readMark,
  reopenDatabase,
} from "../../faces/inbox-postgres.ts";
import { message } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { listening } from "../../support/postgres/listening.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, type Place, sessionAt } from "../../support/postgres/open.ts";

const HERE = { host: "h", pid: 1, version: "1.0.0" };

/** Leaves a heartbeat without a lock, like a bot that was killed or runs behind a pooler. */
async function signOfLife(place: Place): Promise<void> {
  const inbox = await openAt(place);
  await listening(place, 1);
  await inbox.shared.beat(HERE, undefined);
  await inbox.close();
  const locks = async () => (await look<{ n: string }>(place, PROCESSES, [place.schema]))[0]?.n;
  while ((await locks()) !== "0") await setImmediate();
}

const age = (place: Place, ms: number) =>
  look(place, `UPDATE ${place.schema}.instance SET seen_at = seen_at - ${ms}`);

async function attached(place: Place) {
  const inbox = await attachPostgres(place);
  onTestFinished(() => inbox.close());
  return inbox;
}

async function targetAt(place: Place) {
  const target = await CopyTarget.open(place);
  onTestFinished(() => target.close());
  return target;
}

const IN_USE = {
  code: "INBOX_IN_USE",
  message: expect.stringMatching(/Stop every instance first.*15 s/),
};

test("a bot without a lock is detected by its heartbeat, for 15 s", async () => {
  const place = await emptyPlace();
  await signOfLife(place);
  const inbox = await attached(place);
  expect(await inbox.served()).toBe(true);
  await age(place, 10_000);
  expect(await inbox.served()).toBe(true);
  await age(place, 5_000);
  expect(await inbox.served()).toBe(false);
});

test("a stopped bot is not detected, even if it stopped during the check", async () => {
  const place = await emptyPlace();
  const session = await sessionAt(place);
  const seen = async () => Number((await session.query(PROCESSES, [place.schema])).rows[0]?.n);
  // This lock conflicts with the presence lock of running bots.
  const lock = `SELECT pg_advisory_xact_lock(1936876643, hashtext('${place.schema}'))`;
  const free = await hold(place, lock);
  const inbox = await PostgresInbox.open(place);
  await free.waiting(1);
  const closing = inbox.close().then(() => "closed");
  expect(await Promise.race([closing, free.waiting(1)])).not.toBe("closed");
  await free(0);
  await closing;
  expect(await seen()).toBe(0);
  // Positive control: a running bot is detected.
  await openAt(place);
  await listening(place, 1);
  expect(await seen()).toBe(1);
});

test("one whose last sign of life is from before the database's clock was set back is not counted", async () => {
  const place = await emptyPlace();
  await signOfLife(place);
  const inbox = await attached(place);
  await age(place, -10_000);
  expect(await inbox.served()).toBe(true);
  await age(place, -3_600_000);
  expect(await inbox.served()).toBe(false);
  expect((await inbox.together?.())?.instances).toEqual([]);
  const next = await openAt(place);
  expect(await next.shared.beat(HERE, undefined)).toBe(1);
});

test("nothing is copied to where such a bot is", async () => {
  const place = await emptyPlace();
  await signOfLife(place);
  const target = await targetAt(place);
  await expect(target.begin("elsewhere")).rejects.toMatchObject(IN_USE);
  expect(await target.isUnfinished()).toBe(false);
  await age(place, 15_000);
  await target.begin("elsewhere");
});

test("a bot that has announced its end is not counted", async () => {
  const place = await emptyPlace();
  const bot = await openAt(place);
  await bot.shared.beat(HERE, undefined);
  const inbox = await attached(place);
  expect(await inbox.served()).toBe(true);
  await bot.shared.leave();
  await bot.close();
  while (await inbox.served()) await setImmediate();
});

test("an inbox that is refused for its bots is not marked for a moment, which would stop them", async () => {
  const place = await emptyPlace();
  await signOfLife(place);
  // Marking the inbox requires a new table, which this role is not allowed to create.
  const role = `${place.schema}_app`;
  await look(
    place,
    `CREATE ROLE ${role} LOGIN;
     GRANT USAGE ON SCHEMA ${place.schema} TO ${role};
     GRANT SELECT ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`,
  );
  const url = new URL(place.url);
  url.username = role;
  const target = await targetAt({ ...place, url: url.href });
  await expect(target.begin("elsewhere")).rejects.toMatchObject(IN_USE);
  await age(place, 15_000);
  const refused = { message: expect.stringMatching(/permission|owner/) };
  await expect(target.begin("elsewhere")).rejects.toMatchObject(refused);
});

test("a mark is seen by a role that is not the one that copies", async () => {
  const place = await emptyPlace();
  await (await targetAt(place)).begin("file:/a");
  const role = `${place.schema}_bot`;
  await look(place, `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${place.schema} TO ${role}`);
  const url = new URL(place.url);
  url.username = role;
  const database = await openDatabase({ ...place, url: url.href });
  onTestFinished(() => database.close());
  expect(await database.run(() => readMark(database.dialect))).toMatchObject({
    role: "target",
    other: "file:/a",
  });
});

test("an inbox that an earlier version has copied elsewhere is refused, until it is opened again", async () => {
  const place = await emptyPlace();
  await (await openAt(place)).close();
  const { schema } = place;
  await look(
    place,
    `CREATE TABLE ${schema}.copy_mark AS SELECT 'source' AS role, 'file:/b' AS other, '1' AS run;
     ALTER TABLE ${schema}.event ADD CONSTRAINT inbox_was_copied CHECK (false) NOT VALID;
     ALTER TABLE ${schema}.lane ADD CONSTRAINT inbox_was_copied CHECK (false) NOT VALID`,
  );
  await expect(PostgresInbox.open(place)).rejects.toMatchObject({ code: "INBOX_MOVED" });
  expect(await reopenDatabase(place)).toBe(true);
  expect(await reopenDatabase(place)).toBe(false);
  const inbox = await openAt(place);
  expect((await inbox.put([message("1")], "webhook")).stored).toEqual(["1"]);
});
