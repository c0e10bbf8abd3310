import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_INBOX_MODULE, POSTGRES_SCHEMA } from "../../faces/files.ts";
import {
  attachPostgres,
  loadDriver,
  PostgresInbox,
  readableFrom,
} from "../../faces/inbox-postgres.ts";
import { first } from "../../support/first.ts";
import { messages } from "../../support/inbox-events.ts";
import { NEWEST } from "../../support/postgres/binaries.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../../support/postgres/open.ts";
import { PostgresServer } from "../../support/postgres/server.ts";
import { TestProcess } from "../../support/process.ts";

const numbered = readdirSync(POSTGRES_SCHEMA).sort();

async function dump(place: Place): Promise<string> {
  const columns = await look<{ line: string }>(
    place,
    `SELECT format('%I.%I %s%s%s%s', table_name, column_name, data_type,
       CASE WHEN collation_name IS NULL THEN '' ELSE ' COLLATE ' || collation_name END,
       CASE WHEN is_nullable = 'NO' THEN ' NOT NULL' ELSE '' END,
       coalesce(' DEFAULT ' || column_default, '')) AS line
     FROM information_schema.columns WHERE table_schema = $1 ORDER BY table_name, ordinal_position`,
    [place.schema],
  );
  const indexes = await look<{ line: string }>(
    place,
    "SELECT indexdef AS line FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname",
    [place.schema],
  );
  // PostgreSQL 18 lists NOT NULL as a constraint, but the columns above already include it.
  const constraints = await look<{ line: string }>(
    place,
    `SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
     FROM pg_constraint WHERE connamespace = $1::regnamespace AND contype <> 'n' ORDER BY 1`,
    [place.schema],
  );
  const options = await look<{ line: string }>(
    place,
    `SELECT format('%s WITH (%s)', relname, array_to_string(reloptions, ', ')) AS line
     FROM pg_class WHERE relnamespace = $1::regnamespace AND reloptions IS NOT NULL ORDER BY relname`,
    [place.schema],
  );
  const parts = [columns, constraints, indexes, options].map((rows) =>
    rows.map(({ line }) => line.replaceAll(`${place.schema}.`, "")).join("\n"),
  );
  return `${parts.join("\n\n")}\n`;
}

function as(place: Place, role: string): Place {
  const url = new URL(place.url);
  url.username = role;
  return { ...place, url: url.href };
}

describe("the schema", () => {
  test("after all migrations is the one in schema.golden.txt", async () => {
    const place = await emptyPlace();
    await openAt(place);
    await expect(await dump(place)).toMatchFileSnapshot("schema.golden.txt");
  });

  test("is made by numbered files without a gap", () => {
    expect(numbered.map((name) => Number(name.slice(0, 3)))).toEqual(
      numbered.map((_, index) => index + 1),
    );
    for (const name of numbered) expect(name).toMatch(/^\d{3}_[a-z_]+\.sql$/);
  });

  test("says in each file from which version on it can be used, none later than its own", () => {
    for (const [index, name] of numbered.entries()) {
      const oldest = readableFrom(readFileSync(join(POSTGRES_SCHEMA, name), "utf8"), name);
      expect(oldest).toBeGreaterThan(0);
      expect(oldest).toBeLessThanOrEqual(index + 1);
    }
    expect(() => readableFrom("CREATE TABLE x ();", "003_x.sql")).toThrow("003_x.sql");
  });

  test("is made once when ten processes start together, and all of them work", async () => {
    const place = await emptyPlace();
    const inboxes = await Promise.all(Array.from({ length: 10 }, () => openAt(place)));
    const applied = await look(
      place,
      `SELECT version FROM ${place.schema}.migration ORDER BY version`,
    );
    expect(applied).toEqual(numbered.map((_, index) => ({ version: index + 1 })));
    await Promise.all(inboxes.map((inbox, n) => inbox.put(messages(String(n)), "webhook")));
    expect(await inboxes[0]?.stats()).toMatchObject({ pending: 10 });
  });

  test("of an earlier version is brought up to date, and bots of that version go on beside", async () => {
    const place = await emptyPlace();
    const { schema } = place;
    await look(
      place,
      `CREATE SCHEMA ${schema}; SET search_path TO ${schema};
       CREATE TABLE migration (version integer PRIMARY KEY, readable_from integer NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT now());
       INSERT INTO migration (version, readable_from) VALUES (1, 1);
       ${readFileSync(join(POSTGRES_SCHEMA, first(numbered)), "utf8")}`,
    );
    const old = (id: string) =>
      look(
        place,
        `INSERT INTO ${schema}.event (id, lane, ord, type, body, source, state, received_at)
           VALUES ('${id}', 'lane ${id}', '${id}', 'follow', '{}', 'webhook', 'pending', 1);
         INSERT INTO ${schema}.lane (key, pending, ready_at) VALUES ('lane ${id}', 1, 1)`,
      );
    await old("1");
    const inbox = await openAt(place);
    await old("2");
    await inbox.put(messages("3"), "poll", [], "a".repeat(32));
    const claims = await inbox.claim(10, 1_000);
    expect(claims.map(({ id, trace }) => [id, trace]).toSorted()).toEqual([
      ["1", undefined],
      ["2", undefined],
      ["3", "a".repeat(32)],
    ]);
    for (const claim of claims) expect(await inbox.complete(claim)).toBe(true);
  });

  test("of a newer version that has only added to it is used, beside bots of that version", async () => {
    const place = await emptyPlace();
    const before = await openAt(place);
    await before.put(messages("1"), "webhook");
    // Simulates a migration by a future version while this version is running.
    await look(
      place,
      `ALTER TABLE ${place.schema}.event ADD COLUMN weight integer;
       ALTER TABLE ${place.schema}.lane ADD COLUMN weight integer NOT NULL DEFAULT 0;
       INSERT INTO ${place.schema}.migration (version, readable_from) VALUES (999, 1)`,
    );
    const started = await openAt(place);
    for (const inbox of [before, started]) {
      const [claim] = await inbox.claim(1, 1_000);
      if (claim === undefined) throw new Error("one event waits");
      expect(await inbox.complete(claim)).toBe(true);
      await inbox.put(messages("2"), "webhook");
    }
    const attached = await attachPostgres(place);
    expect(await attached.admin.stats()).toMatchObject({ done: 2 });
    await attached.close();
  });

  test("of a newer version is refused with the way out, and left as it is", async () => {
    const place = await emptyPlace();
    await (await PostgresInbox.open(place)).close();
    await look(
      place,
      `INSERT INTO ${place.schema}.migration (version, readable_from) VALUES (999, 999)`,
    );
    const before = await dump(place);
    await expect(openAt(place)).rejects.toMatchObject({
      code: "INBOX_TOO_NEW",
      message: expect.stringMatching(/schema 999.*Update service-bot/),
    });
    expect(await dump(place)).toBe(before);
  });

  test("can be used by a role that may not change it", async () => {
    const place = await emptyPlace();
    await (await PostgresInbox.open(place)).close();
    const role = `${place.schema}_app`;
    await look(
      place,
      `CREATE ROLE ${role} LOGIN;
       GRANT USAGE ON SCHEMA ${place.schema} TO ${role};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`,
    );
    const inbox = await openAt(as(place, role));
    await inbox.put(messages("1"), "webhook", [{ name: "events", position: "1" }]);
    const [claim] = await inbox.claim(1, 1_000);
    if (claim === undefined) throw new Error("one event waits");
    await inbox.beginStep(claim, "s", "");
    expect(await inbox.complete(claim)).toBe(true);
    expect((await inbox.admin.list()).events).toHaveLength(1);
    expect(await inbox.sweep({ bodiesMs: 0, idsMs: 0, deadLettersMs: 0 })).toBe(true);
  });

  test("leaves other schemas of the database alone", async () => {
    const [one, other] = [await emptyPlace(), await emptyPlace()];
    const [first, second] = [await openAt(one), await openAt(other)];
    await first.put(messages("1"), "webhook");
    expect(await second.stats()).toMatchObject({ pending: 0 });
    expect(await second.put(messages("1"), "webhook")).toMatchObject({ stored: ["1"] });
  });
});

test("an open inbox does not keep its process alive", async () => {
  const { url, schema } = await emptyPlace();
  const options = JSON.stringify({ url, schema });
  const code = `import { PostgresInbox } from ${JSON.stringify(POSTGRES_INBOX_MODULE)}; await PostgresInbox.open(${options});`;
  const child = new TestProcess(["--input-type=module", "--eval", code]);
  expect(await child.exited, child.output()).toMatchObject({ code: 0 });
});

describe("a start is refused, with what to do", () => {
  test("where the driver is not installed", async () => {
    const missing = Object.assign(new Error("Cannot find package 'pg'"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    await expect(loadDriver(() => Promise.reject(missing))).rejects.toMatchObject({
      code: "DRIVER_MISSING",
      message: expect.stringContaining("npm install pg"),
    });
  });

  test("where no server answers, without the password", async () => {
    const opened = PostgresInbox.open({
      url: "postgres://me:hunter2@127.0.0.1:1/bot",
      schema: "s",
    });
    const error = await opened.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(JSON.stringify(error) + String(error)).not.toContain("hunter2");
  });

  test("where commits may be lost", async () => {
    const server = await PostgresServer.start(NEWEST, ["fsync=off"]);
    onTestFinished(() => server.stop());
    const opened = PostgresInbox.open({ url: server.url(), schema: "s" });
    await expect(opened).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("fsync = off"),
    });
  });

  test("where the role may not make the schema", async () => {
    const place = await emptyPlace();
    const role = `${place.schema}_poor`;
    await look(place, `CREATE ROLE ${role} LOGIN`);
    onTestFinished(async () => void (await look(place, `DROP ROLE ${role}`)));
    await expect(PostgresInbox.open(as(place, role))).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("permission denied"),
    });
  });
});
