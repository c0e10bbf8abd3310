import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { SQLITE_SCHEMA } from "../faces/files.ts";
import { lockOf, openFile, SqliteInbox, takeLock } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { lookInto, openSqlite } from "../support/sqlite.ts";
import { hasStranger, stranger } from "../support/stranger.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const HOLDER = fileURLToPath(new URL("./holder.ts", import.meta.url));

let file: string;

beforeEach(() => {
  file = join(temporaryFolder(), "bot.db");
});

function open(path = file): SqliteInbox {
  return openSqlite({ file: path });
}

describe("the file", () => {
  test("is made together with its folder", () => {
    const deeper = join(temporaryFolder(), "a", "b", "bot.db");
    open(deeper);
    expect(existsSync(deeper)).toBe(true);
  });

  test.skipIf(process.platform !== "linux")(
    "in a folder that cannot be made is an error, not an endless try",
    () => {
      expect(() => new SqliteInbox({ file: "/proc/service-bot/a/bot.db" })).toThrow(
        expect.objectContaining({ code: "INBOX_UNUSABLE" }),
      );
    },
  );

  test("is in WAL mode and syncs commits by default", () => {
    const opened = openFile(join(temporaryFolder(), "bot.db"));
    onTestFinished(() => opened.close());
    expect(opened.db.pragma("journal_mode", { simple: true })).toBe("wal");
    // 2 is FULL. In WAL mode, NORMAL (1) could lose the last commits in a power failure.
    expect(opened.db.pragma("synchronous", { simple: true })).toBe(2);
  });

  test("keeps events, attempts, results and cursors over a restart", async () => {
    const before = open();
    await before.put(messages("1", "2"), "poll", [{ name: "events", position: "2" }]);
    const claim = first(await before.claim(1, 1));
    await before.beginStep(claim, "reply/1", "hello");
    await before.retry(claim, 0, "boom");
    await before.close();

    const after = open();
    expect(await after.cursor("events")).toBe("2");
    expect(await after.put(messages("1"), "webhook")).toMatchObject({ stored: [], duplicates: 1 });
    const again = first(await after.claim(1, 1_000));
    expect(again).toMatchObject({ id: "1", attempt: 2 });
    expect(await after.beginStep(again, "reply/1", "")).toMatchObject({ state: "open" });
  });

  test("frees the lanes that the previous process had leased, and fences that process off", async () => {
    const before = open();
    await before.put(messages("1"), "webhook");
    const lost = first(await before.claim(1, 600_000));
    await before.close();

    const after = open();
    const claim = first(await after.claim(1, 1_000));
    expect(claim).toMatchObject({ id: "1", attempt: 2 });
    expect(claim.fence).toBeGreaterThan(lost.fence);
  });

  test("remembers the runs that a process before it took with it, and those alone", async () => {
    const before = open();
    await before.put([message("5", "a"), message("6", "a"), message("7", "b")], "webhook");
    for (const claim of await before.claim(2, 600_000)) {
      if (claim.id === "7") await before.retry(claim, 600_000, "Error: boom");
    }
    // This event comes before the leased event, and has never run.
    await before.put([message("4", "a")], "poll");
    await before.close();

    const after = open();
    const history = async (id: string) =>
      (await after.admin.show(id)).history.map(({ number, outcome }) => ({ number, outcome }));
    expect(await history("5")).toEqual([{ number: 1, outcome: "crashed" }]);
    expect(await history("7")).toEqual([{ number: 1, outcome: "failed" }]);
    expect([await history("4"), await history("6")]).toEqual([[], []]);
    expect((await after.admin.show("5")).attempts).toBe(1);
  });

  test("of an earlier version is migrated with its content", async () => {
    lookInto(file, (db) => {
      db.exec(readFileSync(join(SQLITE_SCHEMA, "001_inbox.sql"), "utf8"));
      db.exec(
        `INSERT INTO event (id, lane, ord, type, body, source, state, received_at)
         VALUES ('1', 'a', '1', 'follow', '{}', 'webhook', 'pending', 1)`,
      );
      db.pragma("user_version = 1");
    });
    const inbox = open();
    expect(await inbox.claim(1, 1_000)).toMatchObject([{ id: "1", trace: undefined }]);
    expect((await inbox.admin.show("1")).trace).toBeUndefined();
  });

  test("finds the platform's last delivery after a crash, and not that of one's own service", async () => {
    const inbox = open(join(temporaryFolder(), "bot.db"));
    await inbox.put([{ ...message("order:1"), type: "order.paid" }], "webhook");
    expect(await inbox.deliveredMsAgo()).toBeUndefined();
    await inbox.put([message("evt_1")], "webhook");
    expect(await inbox.deliveredMsAgo()).toBeTypeOf("number");
  });

  test.each(["a\0b", "a\u001a0000", "\u001a", "\u001a\u001a", "plain", "é 😀"])(
    "of an earlier version finds what it stored under %j",
    async (text) => {
      lookInto(file, (db) => {
        for (const name of readdirSync(SQLITE_SCHEMA).sort().slice(0, 6))
          db.exec(readFileSync(join(SQLITE_SCHEMA, name), "utf8"));
        const insert = (table: string, row: Readonly<Record<string, string | number>>) => {
          const names = Object.keys(row);
          const places = names.map((name) => `@${name}`);
          db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${places.join()})`).run(row);
        };
        const event = { lane: text, ord: text, type: text, body: "{}", source: "webhook" };
        insert("event", { ...event, id: text, state: "dead", received_at: 1, done_at: 1 });
        insert("event", { ...event, id: "2", state: "pending", received_at: 1 });
        insert("attempt", { event_id: text, fence: 1, number: 1, outcome: "dead", ended_at: 1 });
        const step = { name: text, state: "done", request: "{}", fence: 1, started_at: 1 };
        insert("step", { ...step, event_id: text, ref: text });
        insert("lane", { key: text, done_ord: text, done_at: Date.now() });
        insert("resting_lane", { key: `resting ${text}`, done_ord: text, done_at: Date.now() });
        insert("webhook_type", { type: text });
        insert("state", { key: text, value: "1", version: text, updated_at: 1 });
        insert("timer", {
          lane: text,
          name: text,
          key: text,
          due_at: 1,
          event_id: text,
          body: "{}",
        });
        insert("cursor", { name: "events", position: text });
        db.pragma("user_version = 6");
      });
      const inbox = open();
      const known = { id: text, lane: text, ord: text, type: text, body: "{}" };
      expect(await inbox.put([known], "webhook")).toMatchObject({ stored: [], duplicates: 1 });
      expect(await inbox.admin.show(text)).toMatchObject({
        ...{ id: text, lane: text, type: text, state: "dead" },
        history: [{ outcome: "dead" }],
        steps: [{ name: text, ref: text }],
      });
      expect(await inbox.claimedRefs([text])).toEqual(new Set([text]));
      expect(await inbox.webhookTypes()).toEqual(new Set([text]));
      expect(await inbox.cursor("events")).toBe(text);
      expect(await inbox.states([text])).toMatchObject([{ key: text, version: text }]);
      const name = { lane: text, name: text, key: text };
      expect(await inbox.timers(name)).toMatchObject([{ ...name, eventId: text }]);
      // The lanes still know what is done, so an earlier event is late.
      const early = { ...known, id: "3", ord: "" };
      await inbox.put(
        [
          { ...early, ord: "\u0001" },
          { ...early, id: "4", lane: `resting ${text}`, ord: "\u0001" },
        ],
        "poll",
      );
      const claims = await inbox.claim(5, 1_000);
      expect(new Map(claims.map(({ id, late }) => [id, late]))).toEqual(
        new Map([
          ["3", true],
          ["4", true],
        ]),
      );
    },
  );

  test("keeps lanes apart across restarts and crashes, even if only lone surrogates differ", async () => {
    const lanes = ["\ud800", "\ud801", "\ufffd"];
    const before = open();
    const events = lanes.map((lane, n) => ({ ...message(`5${n}`), lane }));
    await before.put(events, "webhook");
    for (const claim of await before.claim(2, 600_000)) {
      if (claim.lane === "\ud800") await before.complete(claim);
    }
    await before.close();

    const after = open();
    await after.put(
      lanes.map((lane, n) => ({ ...message(`4${n}`), lane })),
      "poll",
    );
    const claims = await after.claim(5, 600_000);
    expect(new Map(claims.map(({ lane, id, late }) => [lane, [id, late]]))).toEqual(
      new Map([
        ["\ud800", ["40", true]],
        ["\ud801", ["41", false]],
        ["\ufffd", ["42", false]],
      ]),
    );
    expect((await after.admin.show("51")).history).toMatchObject([{ outcome: "crashed" }]);
  });

  test("of a newer version is refused, with the way out", () => {
    lookInto(file, (db) => db.pragma("user_version = 999"));
    expect(() => open()).toThrow(/newer version.*Update service-bot/s);
    expect(() => open()).toThrow(expect.objectContaining({ code: "INBOX_TOO_NEW" }));
  });

  test("that is no database is refused and left as it is", () => {
    writeFileSync(file, "these are notes, not a database, and long enough to be looked at");
    expect(() => open()).toThrow(expect.objectContaining({ code: "INBOX_UNUSABLE" }));
  });

  test("in a place that cannot be written is refused", () => {
    const notes = join(temporaryFolder(), "notes");
    writeFileSync(notes, "");
    expect(() => open(join(notes, "bot.db"))).toThrow(
      expect.objectContaining({ code: "INBOX_UNUSABLE" }),
    );
  });
});

describe.skipIf(!hasStranger)("a user who may not write", () => {
  const errorOf = (file: string): string => {
    const { stderr } = spawnSync(process.execPath, [HOLDER, file], {
      encoding: "utf8",
      timeout: 10_000,
      ...stranger,
    });
    return stderr;
  };

  test.each([
    ["the folder, such as a volume of root", "", 0o555],
    ["the database", "bot.db", 0o444],
  ])("%s learns who owns it", (_what, name, mode) => {
    const folder = temporaryFolder();
    const path = join(folder, name);
    if (name !== "") {
      chmodSync(folder, 0o777);
      writeFileSync(path, "");
    }
    chmodSync(path, mode);
    const error = errorOf(join(folder, "bot.db"));
    expect(error).toContain("INBOX_UNUSABLE");
    const { uid } = statSync(path);
    expect(error).toContain(`${realpathSync(path)} (owner ${uid}, mode ${mode.toString(8)})`);
  });
});

describe("one process per file", () => {
  test("a second inbox on the same file is refused with the way out", { timeout: 20_000 }, () => {
    open();
    expect(() => open()).toThrow(/postgres/);
  });

  test("an open inbox locks out another process", () => {
    open();
    const other = new Sqlite(lockOf(file), { timeout: 0 });
    onTestFinished(() => {
      other.close();
    });
    expect(() => other.exec("BEGIN EXCLUSIVE")).toThrow(
      expect.objectContaining({ code: "SQLITE_BUSY" }),
    );
  });

  test("a process that is killed frees the file and leaves what it had stored", async () => {
    const holder = spawn(process.execPath, [HOLDER, file]);
    onTestFinished(() => {
      holder.kill("SIGKILL");
    });
    expect(String((await once(holder.stdout, "data"))[0])).toBe("stored\n");
    expect(() => takeLock(file, "stop it", 0)).toThrow(
      expect.objectContaining({ code: "INBOX_IN_USE" }),
    );
    holder.kill("SIGKILL");
    await once(holder, "exit");

    const inbox = open();
    expect(await inbox.stats()).toMatchObject({ pending: 1 });
    expect(lookInto(file, (db) => db.pragma("integrity_check", { simple: true }))).toBe("ok");
    // Only its event knew the lane.
    expect(lookInto(file, (db) => db.prepare("SELECT key FROM lane").pluck().all())).toEqual([
      "dm:c1",
    ]);
    expect(await inbox.claim(1, 1_000)).toMatchObject([{ attempt: 1 }]);
  });
});

describe("lanes that have got events", () => {
  const lanes = (file: string) =>
    lookInto(file, (db) => db.prepare("SELECT key, ready_at, done_ord FROM lane").raw().all());

  test("are not in the file until a second after their events have ended", async () => {
    const clock = new ManualClock(1_800_000_000_000);
    const inbox = openSqlite({ file, clock });
    await inbox.put(messages("1"), "webhook");
    await inbox.put(messages("2", "3"), "webhook");
    expect(await inbox.nextReadyIn()).toBe(0);
    const second = await inbox.advance(first(await inbox.claim(1, 30_000)));
    const third = await inbox.advance(second.next ?? first([]));
    await inbox.complete(third.next ?? first([]));
    expect(lanes(file)).toEqual([]);
    await clock.advance(1_000);
    await inbox.ping();
    await vi.waitFor(() => expect(lanes(file)).toEqual([["dm:c1", null, message("3").ord]]));
  });

  test("are in the file as soon as their retry must wait", async () => {
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    await inbox.retry(first(await inbox.claim(1, 30_000)), 60_000, "boom");
    expect(lanes(file)).toEqual([["dm:c1", expect.any(Number), null]]);
  });

  test("are claimed in the order in which they got their first one", async () => {
    const clock = new ManualClock(1_800_000_000_000);
    const inbox = openSqlite({ file: ":memory:", clock });
    for (const lane of ["b", "a", "b"]) {
      await inbox.put([message(`${clock.now()}`, lane)], "webhook");
      await clock.advance(1);
    }
    expect(await inbox.claim(1, 30_000)).toMatchObject([{ lane: "dm:b" }]);
    expect(await inbox.claim(1, 30_000)).toMatchObject([{ lane: "dm:a" }]);
  });

  test("are not forgotten when the claim cannot be written", { timeout: 20_000 }, async () => {
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    const other = new Sqlite(file);
    other.exec("BEGIN IMMEDIATE");
    await expect(inbox.claim(1, 30_000)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    other.close();
    expect(await inbox.nextReadyIn()).toBe(0);
    expect(await inbox.claim(1, 30_000)).toMatchObject([{ id: "1" }]);
  });

  test("are written when the inbox is closed", async () => {
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    await inbox.close();
    expect(lanes(file)).toEqual([["dm:c1", expect.any(Number), null]]);
  });

  test("are written at once when thousands of them wait for a claim", async () => {
    const inbox = open();
    const many = Array.from({ length: 5_000 }, (_, nth) => message(`${nth}`, `${nth}`));
    await inbox.put(many, "webhook");
    expect(lanes(file)).toEqual([]);
    await inbox.put([message("last", "last")], "webhook");
    expect(lanes(file)).toEqual([["dm:last", expect.any(Number), null]]);
  });
});

describe("a lane that waits for a retry", () => {
  test("keeps waiting after a restart", async () => {
    const before = open();
    await before.put(messages("1", "2"), "webhook");
    await before.retry(first(await before.claim(1, 30_000)), 600_000, "boom");
    await before.close();
    expect(await open().claim(1, 30_000)).toEqual([]);
  });
});

describe("healing", () => {
  test("makes an idle lane with pending events ready again", async () => {
    const inbox = open();
    await inbox.put(messages("1", "2"), "webhook");
    // There is nothing to heal. The call only writes the lanes of new events, which otherwise the next claim would do.
    expect(await inbox.heal()).toBe(0);
    lookInto(file, (db) => db.exec("UPDATE lane SET ready_at = NULL"));
    expect(await inbox.claim(1, 1_000)).toEqual([]);
    expect(await inbox.heal()).toBe(1);
    const claim = first(await inbox.claim(1, 1_000));
    await inbox.complete(claim);
    expect(await inbox.claim(1, 1_000)).toMatchObject([{ id: "2" }]);
  });
});

describe("a lane that is gone", () => {
  test("is made again for its events", async () => {
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    expect(await inbox.heal()).toBe(0);
    lookInto(file, (db) => db.exec("DELETE FROM lane"));
    expect(await inbox.claim(1, 1_000)).toEqual([]);
    expect(await inbox.heal()).toBe(1);
    expect(await inbox.claim(1, 1_000)).toMatchObject([{ id: "1" }]);
  });
});

describe("a clock that was set back while no bot ran", () => {
  test("does not let what waits wait for that much longer", async () => {
    const now = 1_800_000_000_000;
    const before = new SqliteInbox({ file, clock: new ManualClock(now) });
    await before.put([message("1", "a"), message("2", "b")], "webhook");
    const [claim] = await before.claim(1, 30_000);
    if (claim === undefined) throw new Error("two events wait");
    await before.retry(claim, 5_000, "boom");
    await before.close();

    const clock = new ManualClock(now - 3_600_000);
    const after = openSqlite({ file, clock });
    expect(await after.claim(10, 30_000)).toMatchObject([{ id: "2" }]);
    expect(await after.nextReadyIn()).toBeLessThanOrEqual(5_000);
    await clock.advance(5_000);
    expect(await after.claim(10, 30_000)).toMatchObject([{ id: "1", attempt: 2 }]);
  });
});

test("a link to the file leads to the same lock", () => {
  open();
  const link = join(temporaryFolder(), "link.db");
  symlinkSync(file, link);
  expect(lockOf(link)).toBe(lockOf(file));
});

test("crashes of an event are counted for any length of its history", async () => {
  const clock = new ManualClock(1_800_000_000_000);
  for (let crash = 0; crash < 2; crash++) {
    const dying = new SqliteInbox({ file, clock });
    if (crash === 0) await dying.put(messages("1"), "webhook");
    await dying.claim(1, 30_000);
    await dying.close();
  }
  const inbox = openSqlite({ file, clock });
  for (let i = 0; i < 60; i++) await inbox.release(first(await inbox.claim(1, 30_000)), 0, "away");
  expect(await inbox.claim(1, 30_000)).toMatchObject([{ id: "1", crashes: 2 }]);
});
