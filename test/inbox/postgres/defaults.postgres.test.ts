import { describe, expect, onTestFinished, test } from "vitest";
import { inboxContract } from "../../contract/inbox-contract.ts";
import {
  attachPostgres,
  Database,
  loadDriver,
  PostgresInbox,
  probePostgres,
} from "../../faces/inbox-postgres.ts";
import { keeps, timer } from "../../support/effects.ts";
import { first } from "../../support/first.ts";
import { message, messages } from "../../support/inbox-events.ts";
import { connected, look } from "../../support/postgres/look.ts";
import {
  asRole,
  createRole,
  emptyPlace,
  openAt,
  type Place,
  reusedPlace,
  through,
} from "../../support/postgres/open.ts";
import { PgBouncer, whyNoPgBouncer } from "../../support/postgres/pgbouncer.ts";

const LEASE = 30_000;

/** Defaults that a role or a database may have, each unlike the server's own. */
const defaults: Readonly<Record<string, string>> = {
  default_transaction_read_only: "on",
  default_transaction_isolation: "serializable",
  default_transaction_deferrable: "on",
  synchronous_commit: "off",
  statement_timeout: "2s",
  lock_timeout: "1ms",
  idle_in_transaction_session_timeout: "1ms",
  idle_session_timeout: "500ms",
  transaction_timeout: "2s",
  search_path: "pg_temp, public, pg_catalog",
  TimeZone: "Asia/Kathmandu",
  DateStyle: "German",
  IntervalStyle: "sql_standard",
  standard_conforming_strings: "off",
  backslash_quote: "off",
  bytea_output: "escape",
  client_encoding: "LATIN1",
  extra_float_digits: "-15",
  row_security: "off",
  array_nulls: "off",
  transform_null_equals: "on",
  quote_all_identifiers: "on",
  lc_numeric: "C",
  default_table_access_method: "heap",
  session_replication_role: "replica",
};

/** Another kind of tables, which a role may use by default. */
const OTHER_TABLES = "other_tables";

let made = 0;

/** Returns the place for a new role whose sessions begin with other defaults. */
async function placeWith(settings: Readonly<Record<string, string>>): Promise<Place> {
  const place = await emptyPlace();
  made += 1;
  const role = `${place.schema}_${made}`;
  await connected(place, async (client) => {
    await createRole(client, role);
    await client.query(`ALTER ROLE ${role} SUPERUSER`);
    if (Object.values(settings).includes(OTHER_TABLES)) {
      await client.query(
        `CREATE ACCESS METHOD ${OTHER_TABLES} TYPE TABLE HANDLER heap_tableam_handler`,
      );
    }
    for (const [name, value] of Object.entries(settings)) await alter(client, role, name, value);
  });
  return asRole(place, role);
}

type Session = Parameters<Parameters<typeof connected>[1]>[0];

async function alter(client: Session, role: string, name: string, value: string): Promise<void> {
  const list = name === "search_path" ? value : `'${value}'`;
  await client.query(`ALTER ROLE ${role} SET ${name} = ${list}`);
}

/** Uses every kind of statement. */
async function useAll(place: Place): Promise<void> {
  const inbox = await openAt(place);
  const cursor = [{ name: "events", position: "1" }];
  const broken = { ...message("0", "x"), unusable: "no payload: NULL" };
  expect(await inbox.put([broken, ...messages("1", "2")], "webhook", cursor)).toMatchObject({
    ...{ stored: ["0", "1", "2"], unusable: 1 },
  });
  const claim = first(await inbox.claim(1, LEASE));
  expect(await inbox.beginStep(claim, "s", "{}")).toEqual({ state: "new" });
  expect(await inbox.reconcileStep(claim, "s", "1", "dm:m_1")).toBe("adopted");
  const effects = { ...keeps("dm:c1", "it's \\ a state"), timers: [timer("a", 0)] };
  const { next } = await inbox.advance(claim, effects);
  expect(next).toMatchObject({ id: "2" });
  expect(await inbox.bury(first(next ? [next] : []), "Error: NULL")).toBe(true);
  expect(await inbox.states(["dm:c1"])).toMatchObject([
    { value: JSON.stringify("it's \\ a state") },
  ]);
  expect(await inbox.fireTimers(10, ({ eventId }) => message(eventId))).toMatchObject({ fired: 1 });
  expect(await inbox.admin.retry("2")).toEqual({ changed: 1, skipped: 0 });
  expect((await inbox.admin.list()).events).toHaveLength(4);
  expect(await inbox.shared.lead("events", 1_000)).toMatchObject({ leads: true });
  await inbox.heal();
  for (let more = true; more; ) {
    more = await inbox.sweep({ bodiesMs: 1e9, idsMs: 1e9, deadLettersMs: 1e9 });
  }
  const admin = await attachPostgres(place);
  expect(await admin.admin.show("0")).toMatchObject({ state: "dead", error: "no payload: NULL" });
  await admin.close();
  expect(await probePostgres(place)).toMatchObject({ exists: true });
}

/** Runs statements that wait for each other's rows from several processes. */
async function collide({ url }: Place): Promise<void> {
  const place = { ...(await emptyPlace()), url };
  const inboxes = await Promise.all([openAt(place), openAt(place), openAt(place)]);
  const ids = Array.from({ length: 60 }, (_, n) => `${100 + n}`);
  await Promise.all(
    inboxes.map((inbox, n) =>
      Promise.all(
        ids.map((id) =>
          inbox.put([message(id, `${Number(id) % 5}`), message("1", `${n}`)], "webhook"),
        ),
      ),
    ),
  );
  const done: string[] = [];
  await Promise.all(
    inboxes.map(async (inbox) => {
      for (let idle = 0; idle < 20; ) {
        const claims = await inbox.claim(3, LEASE);
        idle = claims.length === 0 ? idle + 1 : 0;
        for (const claim of claims) {
          expect(await inbox.complete(claim)).toBe(true);
          done.push(claim.id);
        }
      }
    }),
  );
  expect(done.toSorted()).toEqual(["1", ...ids].toSorted());
}

/** Returns a setting in a session of the bot's own. */
async function settingOf(place: Place, name: string): Promise<string | undefined> {
  const database = new Database({ ...place, driver: await loadDriver() });
  try {
    const [row] = await database.rows<{ value: string }>(
      `SELECT current_setting('${name}') AS value`,
    );
    return row?.value;
  } finally {
    await database.close();
  }
}

describe("a role whose defaults differ", () => {
  test.each(Object.entries(defaults))("in %s = %s changes nothing", async (name, value) => {
    await useAll(await placeWith({ [name]: value }));
  });

  test("in all of them changes nothing, even among concurrent processes", async () => {
    const place = await placeWith(defaults);
    await useAll(place);
    await collide(place);
  });

  test("in synchronous_commit loses no acknowledged event in a crash", async () => {
    const place = await placeWith({ synchronous_commit: "off" });
    expect(await settingOf(place, "synchronous_commit")).toBe("on");
    const cautious = await placeWith({ synchronous_commit: "remote_apply" });
    expect(await settingOf(cautious, "synchronous_commit")).toBe("remote_apply");
  });

  test.each([
    ["statement_timeout", "2s", "0"],
    ["statement_timeout", "30s", "30s"],
    ["lock_timeout", "500ms", "0"],
    ["lock_timeout", "1min", "1min"],
    ["transaction_timeout", "59s", "0"],
    ["transaction_timeout", "5min", "5min"],
    ["idle_session_timeout", "1s", "0"],
    ["idle_session_timeout", "1h", "1h"],
    ["default_transaction_read_only", "on", "off"],
    ["default_transaction_isolation", "repeatable read", "read committed"],
    ["array_nulls", "off", "on"],
    ["standard_conforming_strings", "off", "on"],
    ["default_table_access_method", OTHER_TABLES, "heap"],
    ["search_path", "public, pg_catalog", "pg_catalog"],
    ["search_path", "public", "public"],
  ])("in %s = %s has %s in the bot's sessions", async (name, value, expected) => {
    expect(await settingOf(await placeWith({ [name]: value }), name)).toBe(expected);
  });

  test("has functions of its own before the server's, and they are not called", async () => {
    const place = await emptyPlace();
    const evil = `${place.schema}_evil`;
    await look(
      place,
      `CREATE SCHEMA ${evil};
       CREATE FUNCTION ${evil}.hashtext(text) RETURNS integer LANGUAGE plpgsql AS
         $$ BEGIN RAISE 'called'; END $$;
       CREATE FUNCTION ${evil}.greatest_of(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
       CREATE FUNCTION ${evil}.floor(numeric) RETURNS numeric LANGUAGE plpgsql AS
         $$ BEGIN RAISE 'called'; END $$`,
    );
    await useAll(await placeWith({ search_path: `${evil}, pg_catalog` }));
  });

  inboxContract("PostgreSQL 18 with other defaults", async ({ clock, maxBacklog }) => {
    const place = await contractPlace();
    return await PostgresInbox.open({ ...place, now: () => clock.now(), clock, maxBacklog });
  });
});

let hostile: Promise<Place> | undefined;

/** Returns an empty schema for the same role. */
async function contractPlace(): Promise<Place> {
  hostile ??= placeWith(defaults);
  const { url } = await hostile;
  return { ...(await reusedPlace()), url };
}

test("a database whose defaults differ changes nothing", async () => {
  const place = await emptyPlace();
  const name = `${place.schema}_db`;
  await look(place, `CREATE DATABASE ${name}`);
  for (const [setting, value] of Object.entries(defaults)) {
    if (/^(client_encoding|session_replication_role|search_path)$/.test(setting)) continue;
    await look(place, `ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  }
  const url = new URL(place.url);
  url.pathname = `/${name}`;
  await useAll({ ...place, url: url.href });
});

const reason = whyNoPgBouncer();

describe.skipIf(reason !== undefined)("behind PgBouncer in transaction mode", () => {
  async function pooled(settings: Readonly<Record<string, string>>) {
    const place = await placeWith(settings);
    const pooler = await PgBouncer.start(place.url, { default_pool_size: 2 });
    onTestFinished(() => pooler.stop());
    return { place, pooler, behind: through(place, pooler) };
  }

  test("a role whose defaults differ changes nothing, and other clients keep them", async () => {
    const { behind } = await pooled(defaults);
    await useAll(behind);
    await collide(behind);
    const names = [
      "default_transaction_isolation",
      "default_transaction_read_only",
      "lock_timeout",
    ];
    for (const name of names) {
      const sessions = Array.from({ length: 5 }, () =>
        look<{ value: string }>(behind, `SELECT current_setting('${name}') AS value`),
      );
      for (const rows of await Promise.all(sessions))
        expect(rows).toEqual([{ value: defaults[name] }]);
    }
    expect(await settingOf(behind, "synchronous_commit")).toBe("on");
  });

  test("defaults that change while the bot runs change nothing", async () => {
    const { place, pooler, behind } = await pooled({});
    const inbox = await openAt(behind);
    await inbox.put(messages("1"), "webhook");
    await look(
      place,
      `ALTER ROLE ${new URL(place.url).username} SET default_transaction_read_only = on`,
    );
    const admin = new URL(behind.url);
    admin.pathname = "/pgbouncer";
    await look({ url: admin.href }, "RECONNECT");
    for (const id of ["2", "3", "4", "5"]) {
      expect(await inbox.put(messages(id), "webhook")).toMatchObject({ stored: [id] });
    }
    expect(pooler.port).toBeGreaterThan(0);
  });

  test("usual defaults cost no statement", async () => {
    const { behind } = await pooled({ statement_timeout: "30s", TimeZone: "Asia/Kathmandu" });
    const statements: string[] = [];
    const inbox = await openAt(behind, { onStatement: (text) => void statements.push(text) });
    statements.length = 0;
    await inbox.put(messages("1"), "webhook");
    expect(statements.filter((text) => !text.includes("pg_notify"))).toHaveLength(1);
  });
});
