import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  attachPostgres,
  openDatabase,
  openPostgresSource,
  openPostgresTarget,
  PostgresInbox,
  PROCESSES,
  readMark,
} from "../../faces/inbox-postgres.ts";
import { message } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { listening } from "../../support/postgres/listening.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, type Place, sessionAt } from "../../support/postgres/open.ts";

const HERE = { host: "h", pid: 1, version: "1.0.0" };

/** What of a bot is left that was killed, or that is behind a pooler: its sign of life, and no lock. */
async function signOfLife(place: Place): Promise<void> {
  const inbox = await openAt(place);
  await listening(place, 1);
  await inbox.shared.beat(HERE, undefined);
  await inbox.close();
  const locks = async () => (await look<{ n: string }>(place, PROCESSES, [place.schema]))[0]?.n;
  while ((await locks()) !== "0") await setImmediate();
}

/** Lets the last signs of life be so many milliseconds older. */
const age = (place: Place, ms: number) =>
  look(place, `UPDATE ${place.schema}.instance SET seen_at = seen_at - ${ms}`);

async function attached(place: Place) {
  const inbox = await attachPostgres(place);
  onTestFinished(() => inbox.close());
  return inbox;
}

async function source(place: Place) {
  const opened = await openPostgresSource(place);
  onTestFinished(() => opened.close());
  return opened;
}

const IN_USE = { code: "INBOX_IN_USE", message: expect.stringMatching(/Stop it first.*15 s/) };

test("a bot that holds no lock is known by its sign of life, for 15 s", async () => {
  const place = await emptyPlace();
  await signOfLife(place);
  const inbox = await attached(place);
  const copied = await source(place);
  expect(await inbox.served()).toBe(true);
  await expect(copied.hold("elsewhere")).rejects.toMatchObject(IN_USE);
  await age(place, 10_000);
  expect(await inbox.served()).toBe(true);
  await age(place, 5_000);
  expect(await inbox.served()).toBe(false);
  await copied.hold("elsewhere");
});

test("one that has stopped is not seen any more, also where it was just about to be", async () => {
  const place = await emptyPlace();
  const session = await sessionAt(place);
  const seen = async () => Number((await session.query(PROCESSES, [place.schema])).rows[0]?.n);
  // Against the lock of presence.
  const lock = `SELECT pg_advisory_xact_lock(1936876643, hashtext('${place.schema}'))`;
  const free = await hold(place, lock);
  const inbox = await PostgresInbox.open(place);
  await free.waiting(1);
  const closing = inbox.close().then(() => "closed");
  expect(await Promise.race([closing, free.waiting(1)])).not.toBe("closed");
  await free(0);
  await closing;
  expect(await seen()).toBe(0);
  // A control: one that runs is seen.
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
  const target = await openPostgresTarget(place);
  onTestFinished(() => target.close());
  await expect(target.begin("elsewhere")).rejects.toMatchObject(IN_USE);
  expect(await target.unfinished()).toBe(false);
  await age(place, 15_000);
  await target.begin("elsewhere");
});

test("one that has said that it ends is not counted", async () => {
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
  // To mark it is to make a table, which this role may not.
  const role = `${place.schema}_app`;
  await look(
    place,
    `CREATE ROLE ${role} LOGIN;
     GRANT USAGE ON SCHEMA ${place.schema} TO ${role};
     GRANT SELECT ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`,
  );
  const url = new URL(place.url);
  url.username = role;
  const copied = await source({ ...place, url: url.href });
  await expect(copied.hold("elsewhere")).rejects.toMatchObject(IN_USE);
  const target = await openPostgresTarget({ ...place, url: url.href });
  onTestFinished(() => target.close());
  await expect(target.begin("elsewhere")).rejects.toMatchObject(IN_USE);
  await age(place, 15_000);
  const refused = { message: expect.stringMatching(/permission|owner/) };
  await expect(copied.hold("elsewhere")).rejects.toMatchObject(refused);
  await expect(target.begin("elsewhere")).rejects.toMatchObject(refused);
});

describe("in an inbox that was copied, an instance that does not know of it yet", () => {
  const moved = {
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("set DATABASE_URL to the copy"),
  };
  const unusable = { ...message("2"), unusable: "it cannot be read" };

  test("stores nothing, takes nothing, and ends nothing, until the inbox is opened again", async () => {
    const place = await emptyPlace();
    const inbox = await openAt(place);
    await inbox.put([message("1", "one"), message("3", "three")], "webhook");
    const [claim] = await inbox.claim(1, 30_000);
    if (claim === undefined) throw new Error("nothing was claimed");
    const copied = await source(place);
    await copied.leave("elsewhere");
    await expect(inbox.put([message("4")], "webhook")).rejects.toMatchObject(moved);
    await expect(inbox.put([unusable], "webhook")).rejects.toMatchObject(moved);
    await expect(inbox.claim(1, 30_000)).rejects.toMatchObject(moved);
    await expect(inbox.complete(claim)).rejects.toMatchObject(moved);
    expect(await inbox.stats()).toMatchObject({ pending: 2, dead: 0, done: 0 });
    expect(await copied.reopen()).toBe(true);
    expect((await inbox.put([message("4"), unusable], "webhook")).stored).toHaveLength(2);
    expect(await inbox.claim(9, 30_000)).toHaveLength(2);
    expect(await inbox.complete(claim)).toBe(true);
  });

  test("goes on after a copy that was given up", async () => {
    const place = await emptyPlace();
    const inbox = await openAt(place);
    const copied = await source(place);
    await copied.leave("elsewhere");
    await copied.leave("there");
    await expect(inbox.put([message("1")], "webhook")).rejects.toMatchObject(moved);
    await copied.release();
    expect((await inbox.put([message("1")], "webhook")).stored).toEqual(["1"]);
  });

  test("sees the mark also where its role is not the one that has copied", async () => {
    const place = await emptyPlace();
    await (await openAt(place)).close();
    await (await source(place)).leave("elsewhere");
    const role = `${place.schema}_bot`;
    await look(
      place,
      `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${place.schema} TO ${role}`,
    );
    const url = new URL(place.url);
    url.username = role;
    const database = await openDatabase({ ...place, url: url.href });
    onTestFinished(() => database.close());
    expect(await readMark(database)).toMatchObject({ role: "source", other: "elsewhere" });
  });
});
