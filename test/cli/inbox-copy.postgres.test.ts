import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Bot, type BotOptions, GiveUp, RetryLater } from "../../src/index.ts";
import type { InboxReport } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { fillInbox } from "../inbox/copy/whole-inbox.ts";
import { look } from "../support/postgres/look.ts";
import { emptyPlace, openAt, type Place, sessionAt } from "../support/postgres/open.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serviceBot, serviceBotEnds } from "./cli.ts";

// Several processes each, and a machine may have much else to do.
vi.setConfig({ testTimeout: 90_000 });

let folder: string;
let file: string;
let place: Place;
let env: Record<string, string>;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, "data", "bot.db");
  place = await emptyPlace();
  env = { DATABASE_URL: place.url, DATABASE_SCHEMA: place.schema };
});

const FROM = ["inbox", "copy", "--from", "file:data/bot.db"];

const copy = (...flags: readonly string[]) =>
  serviceBotEnds([...FROM, ...flags], { cwd: folder, env });

describe("service-bot inbox copy", () => {
  test("prints rows and checksums of each table, and what to do next; nothing secret", async () => {
    await fillInbox(file);
    const { code, out, err } = await copy();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^TABLE +ROWS +SHA-256 +IN THE COPY\nevent +8 +[0-9a-f]{16} +the same\n/);
    expect(out).toMatch(/copied and compared in \d+\.\d s: file:.*bot\.db to postgres:/);
    expect(out).not.toContain("hunter2");
    const inbox = await openAt(place);
    expect(await inbox.admin.stats()).toMatchObject({ done: 1, dead: 2, discarded: 1, pending: 4 });
  });

  test("--json is one line, with the whole checksums", async () => {
    await fillInbox(file);
    const { code, out } = await copy("--json");
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ verified: true, clockMovedMs: 0, ms: expect.any(Number) });
    expect(report.tables[0]).toEqual({
      name: "event",
      rows: 8,
      checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("--dry-run counts, and changes nothing on either side", async () => {
    await fillInbox(file);
    const { code, out } = await copy("--dry-run");
    expect(code).toBe(0);
    expect(out).toMatch(/event +8\n/);
    const made = await look(place, "SELECT 1 FROM pg_namespace WHERE nspname = $1", [place.schema]);
    expect(made).toEqual([]);
    await new SqliteInbox({ file }).close();
    expect(JSON.parse((await copy("--dry-run", "--json")).out).rows).toMatchObject({ event: 8 });
    await copy();
    const again = await copy("--dry-run");
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("was copied to") });
  });

  test("back into a file, and --reopen, which takes a copy back that no bot has used", async () => {
    await fillInbox(file);
    await copy();
    const back = join(folder, "new", "bot.db");
    const made = await serviceBotEnds(["inbox", "copy", "--to", `file:${back}`], {
      cwd: folder,
      env,
    });
    expect(made).toMatchObject({ code: 0, err: "" });
    await new SqliteInbox({ file: back }).close();
    expect(await copy("--reopen")).toMatchObject({
      code: 0,
      out: expect.stringContaining("again"),
    });
    expect(JSON.parse((await copy("--reopen", "--json")).out)).toMatchObject({ reopened: false });
    await new SqliteInbox({ file }).close();
  });

  test("reads DATABASE_URL of .env for the side that is left out", async () => {
    await fillInbox(file);
    const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(folder, ".env"), lines.join(""));
    expect(await serviceBotEnds(FROM, { cwd: folder })).toMatchObject({ code: 0 });
  });

  test("ends with 1 and one sentence when the copy is another one than was read", async () => {
    await fillInbox(file);
    await (await openAt(place)).close();
    await look(
      place,
      `CREATE FUNCTION ${place.schema}.spoil() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN NEW.position := '1'; RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON ${place.schema}.cursor
         FOR EACH ROW EXECUTE FUNCTION ${place.schema}.spoil()`,
    );
    const { code, out, err } = await copy();
    expect(code).toBe(1);
    expect(out).toMatch(/cursor +1 +[0-9a-f]+ +DIFFERENT/);
    expect(err).toMatch(/is not what was copied from .*: cursor\./);
    expect(err).not.toContain("\n");
  });

  test("ends with 1 while a bot has the inbox", async () => {
    const inbox = new SqliteInbox({ file });
    onTestFinished(() => inbox.close());
    const { code, err } = await copy();
    expect(code).toBe(1);
    expect(err).toMatch(/Another process uses .*stop it first/);
  });

  test("ends with 2 when it is called wrongly, before anything is opened", {
    timeout: 60_000,
  }, async () => {
    const wrong: [string[], string][] = [
      [[], "--from"],
      [["--from", "bot.db"], "--from must be"],
      [["--to", "file::memory:"], "--to names an inbox in memory"],
      [["--reopen", "--to", "file:x.db"], "--reopen"],
      [["--from", "file:a", "extra"], "extra"],
      [["--from", "file:a", "--force"], "--dry-run"],
    ];
    await Promise.all(
      wrong.map(async ([args, names]) => {
        const { code, err } = await serviceBotEnds(["inbox", "copy", ...args], { cwd: folder });
        expect({ args, code }).toEqual({ args, code: 2 });
        expect(err.split("Usage:")[0]).toContain(names);
      }),
    );
    await fillInbox(file);
    const bare = await serviceBotEnds(FROM, { cwd: folder });
    expect(bare).toMatchObject({ code: 2, err: expect.stringContaining("--to is missing") });
    const itself = await serviceBotEnds([...FROM, "--to", `file:${file}`], { cwd: folder });
    expect(itself).toMatchObject({ code: 2, err: expect.stringContaining("into itself") });
    const missing = await serviceBotEnds([...FROM, "--to", "file:x.db"], {
      cwd: temporaryFolder(),
    });
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("no inbox at") });
    expect(existsSync(join(folder, "x.db"))).toBe(false);
  });
});

/** Makes the copy stand still at the first row of a table, until the lock is given back. */
async function stopAt(table: string): Promise<{ stands(): Promise<void>; goOn(): Promise<void> }> {
  await (await openAt(place)).close();
  const number = Math.floor(Math.random() * 1e9);
  const client = await sessionAt(place);
  await client.query("SELECT pg_advisory_lock($1)", [number]);
  await client.query(
    `CREATE FUNCTION ${place.schema}.wait() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${number}); RETURN NEW; END $$;
     CREATE TRIGGER wait BEFORE INSERT ON ${place.schema}.${table}
       FOR EACH ROW EXECUTE FUNCTION ${place.schema}.wait()`,
  );
  const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${number} AND NOT granted`;
  return {
    async stands() {
      while ((await client.query(waiting)).rows.length === 0) await setImmediate();
    },
    goOn: async () => void (await client.query("SELECT pg_advisory_unlock($1)", [number])),
  };
}

test.each(["event", "step", "webhook_type"])(
  "killed at the table %s, it leaves an inbox on which no bot starts, and is run again",
  async (table) => {
    await fillInbox(file);
    const { stands, goOn } = await stopAt(table);
    const killed = serviceBot(FROM, { cwd: folder, env });
    await stands();
    killed.kill("SIGKILL");
    await killed.exited;
    await expect(openAt(place)).rejects.toMatchObject({ code: "INBOX_UNFINISHED" });
    // The old place is free, and whole: the bot may go on there first.
    const bot = new SqliteInbox({ file });
    await bot.put([], "poll", [{ name: "events", position: "evt_0778" }]);
    await bot.close();
    await goOn();
    expect(await copy()).toMatchObject({ code: 0 });
    const inbox = await openAt(place);
    expect(await inbox.cursor("events")).toBe("evt_0778");
    expect(await inbox.admin.stats()).toMatchObject({ done: 1, dead: 2, discarded: 1, pending: 4 });
  },
);

async function until(bot: Bot, fits: (stats: InboxReport) => boolean): Promise<void> {
  while (!fits(await bot.inbox.stats())) await setImmediate();
  await bot.idle();
}

test("a bot goes on in PostgreSQL where it stopped: nothing twice, nothing lost, in order", async () => {
  const platform = await runPlatform();
  const ran: string[] = [];
  let down = true;
  const register = (bot: Bot) => {
    bot.on("dm.message", async (ctx) => {
      const { name } = ctx.payload.from;
      if (name === "Ben" && down) throw new RetryLater(3_600_000);
      // A run that waits, because an earlier answer may still be under way, does not get further than this.
      if (name !== "Cleo") await ctx.reply(`Hi ${name}, about ${ctx.event.id}`);
      ran.push(ctx.event.id);
      if (name === "Cleo") throw new GiveUp("never");
    });
  };
  const bot = async (options: BotOptions) => (await runBot(platform, register, options)).bot;
  const conversations = new Map<string, string>();
  const ask = (from: string) => {
    const { conversationId = "", events } = platform.control.act({ type: "dm.message", from });
    conversations.set(from, conversationId);
    return events[0]?.id ?? "";
  };
  const answers = (from: string) =>
    platform.control.messages(conversations.get(from) ?? "").filter(({ fromBot }) => fromBot);

  const before = await bot({ databaseUrl: `file:${file}`, auditIntervalMs: 50, maxAttempts: 8 });
  const ada = ask("ada");
  const [dan, cleo] = [ask("dan"), ask("cleo")];
  const ben = [ask("ben"), ask("ben"), ask("ben")];
  await until(before, ({ done, dead, pending }) => done === 2 && dead === 1 && pending === 3);
  await before.stop();
  down = false;
  // As if the process had been killed between the answer to Dan and the record of it, and Ben's wait is over.
  const db = new Sqlite(file);
  db.prepare("UPDATE step SET state = 'open', result = NULL, ref = NULL WHERE event_id = ?").run(
    dan,
  );
  db.prepare("UPDATE event SET state = 'pending', done_at = NULL WHERE id = ?").run(dan);
  db.prepare(
    "UPDATE lane SET pending = 1, ready_at = 0 WHERE key = (SELECT lane FROM event WHERE id = ?)",
  ).run(dan);
  db.exec("UPDATE lane SET ready_at = 0 WHERE ready_at IS NOT NULL");
  db.close();
  // While no bot is there, and no delivery arrives.
  const fay = ask("fay");
  expect(ran.filter((id) => id === fay)).toEqual([]);
  const ranBefore = ran.splice(0);
  expect(new Set(ranBefore)).toEqual(new Set([ada, dan, cleo]));

  expect(await copy()).toMatchObject({ code: 0, err: "" });
  const after = await bot({
    ...{ databaseUrl: place.url, databaseSchema: place.schema },
    // Nothing comes by webhook: what was missed is found behind the cursor, or not at all.
    ...{ delivery: "polling", pollIntervalMs: 50 },
  });
  await until(after, ({ done }) => done === 6);
  expect(ran.toSorted()).toEqual([dan, ...ben, fay].toSorted());
  expect(ran.filter((id) => ben.includes(id))).toEqual(ben);
  expect(["ada", "dan", "ben", "fay", "cleo"].map((from) => answers(from).length)).toEqual([
    1, 1, 3, 1, 0,
  ]);
  expect(await after.inbox.show(cleo)).toMatchObject({ state: "dead", history: [{ number: 1 }] });
  expect((await after.inbox.show(dan)).steps).toMatchObject([{ state: "done" }]);
});
