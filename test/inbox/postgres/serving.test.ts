import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { attachPostgres } from "../../../src/inbox/postgres/attach.ts";
import { openPostgresSource } from "../../../src/inbox/postgres/copy-source.ts";
import { openPostgresTarget } from "../../../src/inbox/postgres/copy-target.ts";
import { PROCESSES } from "../../../src/inbox/postgres/listener.ts";
import { listening } from "../../support/postgres/listening.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../../support/postgres/open.ts";

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
  const refused = { message: expect.stringContaining("permission") };
  await expect(copied.hold("elsewhere")).rejects.toMatchObject(refused);
  await expect(target.begin("elsewhere")).rejects.toMatchObject(refused);
});
