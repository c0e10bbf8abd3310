import { describe, expect, test, vi } from "vitest";
import { listening } from "../../support/postgres/listening.ts";
import { asRole, createRole, emptyPlace, openAt, sessionAt } from "../../support/postgres/open.ts";
import { examineDatabase, failFindings, okFindings } from "./database.ts";
import { examine } from "./examine.ts";

vi.setConfig({ testTimeout: 60_000 });

describe("PostgreSQL", () => {
  test("is reported with its version", async () => {
    const place = await emptyPlace();
    await openAt(place);
    const { findings } = await examine({ DATABASE_URL: place.url, DATABASE_SCHEMA: place.schema });
    const reported = findings.filter(({ area }) => area === "storage" || area === "inbox");
    expect(reported.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^PostgreSQL 18\S* stores commits durably/),
      "pending: 0 events, no dead letters",
    ]);
  });

  test("an inbox can be made, and is not; once it is there, it can be written", async () => {
    const place = await emptyPlace();
    const at = () => examineDatabase({ DATABASE_URL: place.url, DATABASE_SCHEMA: place.schema });
    expect(await at()).toEqual(
      okFindings(expect.stringMatching(/^the bot can create its inbox at postgres:/)),
    );
    const session = await sessionAt(place);
    const schemas = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
    expect((await session.query(schemas, [place.schema])).rows).toEqual([]);
    await openAt(place);
    await listening(place, 1);
    expect(await at()).toEqual(
      okFindings(expect.stringMatching(/is writable \(in use by a running bot\)$/)),
    );
  });

  test("a role that may not write is reported", async () => {
    const place = await emptyPlace();
    const session = await sessionAt(place);
    const role = `${place.schema}_reader`;
    await createRole(session, role);
    const { url } = asRole(place, role);
    const at = () => examineDatabase({ DATABASE_URL: url, DATABASE_SCHEMA: place.schema });
    expect(await at()).toEqual(failFindings(/has no permission to create the schema/, /role/));
    await openAt(place);
    await session.query(`GRANT USAGE ON SCHEMA ${place.schema} TO ${role}`);
    await session.query(`GRANT SELECT ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`);
    expect(await at()).toEqual(failFindings(/has no permission to write/, /role/));
    const all = `GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`;
    await session.query(all);
    expect(await at()).toEqual(okFindings(expect.stringMatching(/is writable/)));
  });
});
