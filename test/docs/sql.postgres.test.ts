import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { asRole, createRole, emptyPlace, openAt, sessionAt } from "../support/postgres/open.ts";
import { codeBlocks, pages } from "./markdown.ts";

const blocks = pages.flatMap(codeBlocks).filter(({ language }) => language === "sql");

test("there is SQL in the documentation", () => {
  expect(blocks.length).toBeGreaterThan(0);
});

test.each(blocks)(
  "the SQL of $page runs against the schema of an inbox: $code",
  async ({ code }) => {
    const place = await emptyPlace();
    await openAt(place);
    const session = await sessionAt(place);
    const role = `bot_${randomBytes(4).toString("hex")}`;
    await createRole(session, role);
    onTestFinished(async () => {
      await session.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    });
    await session.query(
      code.replaceAll(/\bservice_bot\b/g, place.schema).replaceAll(/\bTO bot\b/g, `TO ${role}`),
    );
    if (!code.includes("GRANT")) return;
    // These privileges must be enough for a bot.
    const inbox = await openAt(asRole(place, role));
    expect(await inbox.stats()).toMatchObject({ pending: 0 });
  },
);

test("without the rights a bot does not work", async () => {
  const place = await emptyPlace();
  await openAt(place);
  const session = await sessionAt(place);
  const role = `bot_${randomBytes(4).toString("hex")}`;
  await createRole(session, role);
  onTestFinished(async () => {
    await session.query(`DROP ROLE ${role}`);
  });
  await expect(openAt(asRole(place, role))).rejects.toMatchObject({
    code: "INBOX_UNUSABLE",
  });
});
