import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type Bot, type BotOptions, GiveUp, RetryLater } from "../../src/index.ts";
import type { InboxReport } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { fillInbox, rowsOf } from "../inbox/copy/whole-inbox.ts";
import { look } from "../support/postgres/look.ts";
import { emptyPlace, openAt, type Place, sessionAt } from "../support/postgres/open.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serviceBot } from "./cli.ts";
import { runCommand } from "./command.ts";
import { inboxTemplate } from "./inbox-template.ts";

// Commands that behave the same on both stores are tested in inbox.test.ts, inbox-copy.test.ts and similar files.

vi.setConfig({ testTimeout: 60_000 });

const putInbox = inboxTemplate(fillInbox);

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

const inbox = (...args: readonly string[]) => runCommand(["inbox", ...args], { cwd: folder, env });

const FROM = ["copy", "--from", "file:data/bot.db"];

const copy = (...flags: readonly string[]) => inbox(...FROM, ...flags);

describe("service-bot inbox on PostgreSQL", () => {
  test("copies a file there, and shows nothing secret", async () => {
    await putInbox(file);
    const { code, out, err } = await copy();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/file:.*bot\.db to postgres:/);
    expect(out).not.toContain("hunter2");
    const copied = await openAt(place);
    const stats = { done: 1, dead: 2, discarded: 1, pending: 4 };
    expect(await copied.admin.stats()).toMatchObject(stats);
    await copied.close();
  });

  test("--dry-run counts, and changes nothing on either side", async () => {
    await putInbox(file);
    const before = rowsOf(file);
    const { code, out } = await copy("--dry-run");
    expect(code).toBe(0);
    expect(out).toMatch(/^event +8$/m);
    const made = await look(place, "SELECT 1 FROM pg_namespace WHERE nspname = $1", [place.schema]);
    expect(made).toEqual([]);
    expect(rowsOf(file)).toEqual(before);
    expect(JSON.parse((await copy("--dry-run", "--json")).out).rows).toMatchObject({ event: 8 });
    await copy();
    const again = await copy("--dry-run");
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("was copied to") });
  });

  test("--json is one line, with the rows of each table", async () => {
    await putInbox(file);
    const { code, out } = await copy("--json");
    expect(code).toBe(0);
    expect(out.trim()).not.toContain("\n");
    expect(JSON.parse(out)).toMatchObject({
      from: expect.stringMatching(/^file:/),
      to: expect.stringContaining(place.schema),
      clockMovedMs: 0,
      rows: { event: 8, cursor: 1 },
      ms: expect.any(Number),
    });
  });

  test("leaves backups to PostgreSQL's own tools, and marks what they have restored", async () => {
    await (await openAt(place)).close();
    writeFileSync(join(folder, "1.db"), "");
    const taken = await inbox("backup", "2.db");
    expect(taken.code).toBe(1);
    expect(taken.err).toMatch(/pg_dump.*operate\/backup\.html/s);
    expect((await inbox("restore", "1.db")).err).toMatch(/pg_restore.*--in-place/s);
    const marked = await inbox("restore", "--in-place");
    expect(marked).toMatchObject({ code: 0, err: "" });
    expect(marked.out).toMatch(/^restored: postgres:.*0 events/);
  });
});

/** Locks a table, so that a copy stops at the table's first row until the lock is released. */
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

test.each(["event", "webhook_type"])(
  "killed at the table %s, it leaves an inbox on which no bot starts, and is run again",
  async (table) => {
    await putInbox(file);
    const { stands, goOn } = await stopAt(table);
    const killed = serviceBot(["inbox", ...FROM], { cwd: folder, env });
    await stands();
    await killed.end("SIGKILL");
    await expect(openAt(place)).rejects.toMatchObject({ code: "INBOX_UNFINISHED" });
    // The bot can still use the source inbox, which is unchanged and unlocked again.
    const bot = new SqliteInbox({ file });
    await bot.put([], "poll", [{ name: "events", position: "evt_0778" }]);
    await bot.close();
    await goOn();
    expect(await copy()).toMatchObject({ code: 0 });
    const copied = await openAt(place);
    expect(await copied.cursor("events")).toBe("evt_0778");
    expect(await copied.admin.stats()).toMatchObject({
      done: 1,
      dead: 2,
      discarded: 1,
      pending: 4,
    });
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
      // A run that must wait for an earlier reply does not get past this line.
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
  // Simulate a crash after the reply to Dan was sent, but before it was recorded. The run no longer waits for the reply
  // to Ben.
  const db = new Sqlite(file);
  db.prepare("UPDATE step SET state = 'open', result = NULL, ref = NULL WHERE event_id = ?").run(
    dan,
  );
  db.prepare("UPDATE event SET state = 'pending', done_at = NULL WHERE id = ?").run(dan);
  db.prepare("UPDATE lane SET ready_at = 0 WHERE key = (SELECT lane FROM event WHERE id = ?)").run(
    dan,
  );
  db.exec("UPDATE lane SET ready_at = 0 WHERE ready_at IS NOT NULL");
  db.close();
  // This event arrives while no bot is running, so its delivery fails.
  const fay = ask("fay");
  expect(ran.filter((id) => id === fay)).toEqual([]);
  const ranBefore = ran.splice(0);
  expect(new Set(ranBefore)).toEqual(new Set([ada, dan, cleo]));

  expect(await copy()).toMatchObject({ code: 0, err: "" });
  const after = await bot({
    ...{ databaseUrl: place.url, databaseSchema: place.schema },
    // Without a webhook, the bot only finds missed events that come after its cursor.
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
