import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { aboutDisk, aboutFile, aboutInbox, aboutInstances, aboutServer } from "../../faces/cli.ts";
import { pageUrl } from "../../faces/core.ts";
import type { FileHealth, InboxReport } from "../../faces/inbox.ts";
import {
  ephemeralDiskOf,
  healthOfFile,
  networkOf,
  openFile,
  SqliteInbox,
} from "../../faces/inbox-sqlite.ts";
import { first } from "../../support/first.ts";
import { messages } from "../../support/inbox-events.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { examine } from "./examine.ts";

/** An in-memory file system that Linux provides. */
const MEMORY = "/dev/shm";

const MB = 1024 * 1024;

const healthy: FileHealth = {
  kind: "file",
  mode: 0o600,
  freeBytes: 50_000 * MB,
  minFreeBytes: 64 * MB,
  bytes: MB,
  walBytes: 0,
  network: undefined,
  damage: [],
};

const levels = (health: Partial<FileHealth>) =>
  aboutFile("bot.db", { ...healthy, ...health }).map(({ level, what }) => `${level} ${what}`);

describe("a file", () => {
  test("that is well is one line", () => {
    expect(levels({})).toEqual([
      expect.stringMatching(/^ok .* intact: 1\.0 MB, WAL 0 B, disk 49 GB free/),
    ]);
    expect(levels({ damage: undefined, freeBytes: undefined })).toEqual([
      expect.stringMatching(/^ok .* too large .*: 1\.0 MB, WAL 0 B$/),
    ]);
  });

  test.each<[Partial<FileHealth>, RegExp]>([
    [{ damage: ["row 3 missing from index event_pending"] }, /^fail bot.db is damaged: row 3/],
    [{ network: "NFS" }, /^fail bot.db is on a network file system \(NFS\)/],
    [{ mode: 0o644 }, /^note bot.db .*other users of this machine can read it/],
    [{ freeBytes: 100 * MB }, /^note its disk has 100 MB free; below 64 MB/],
    [{ walBytes: 300 * MB }, /^note its WAL has grown to 300 MB/],
  ])("%j is reported, with a remedy", (health, reported) => {
    const found = aboutFile("bot.db", { ...healthy, ...health });
    if (health.damage !== undefined) {
      expect(found[0]?.remedy).toContain(pageUrl("operate/backup#restore-a-backup"));
    }
    expect(found.map(({ level, what }) => `${level} ${what}`)).toEqual([
      expect.stringMatching(reported),
    ]);
    expect(first([...found]).remedy).toBeTypeOf("string");
  });

  test("is looked at as it is", () => {
    const file = join(temporaryFolder(), "bot.db");
    openFile(file).close();
    chmodSync(file, 0o640);
    expect(healthOfFile(file)).toMatchObject({
      kind: "file",
      mode: 0o640,
      freeBytes: expect.any(Number),
      network: undefined,
      damage: [],
    });
  });

  test("that is damaged inside is found, and one that is whole is not", async () => {
    const file = join(temporaryFolder(), "bot.db");
    const inbox = new SqliteInbox({ file });
    const ids = Array.from({ length: 500 }, (_, n) => `evt_${n}`);
    await inbox.put(messages(...ids), "webhook");
    await inbox.close();
    const { bytes, damage } = healthOfFile(file);
    expect(damage).toEqual([]);
    const descriptor = openSync(file, "r+");
    writeSync(
      descriptor,
      Buffer.alloc(4_096 * 3, 0x55),
      0,
      4_096 * 3,
      Math.floor(bytes / 8_192) * 4_096,
    );
    closeSync(descriptor);
    expect(healthOfFile(file).damage?.length).toBeGreaterThan(0);
  });

  test("on another machine is detected by its file system's number, even a negative one", () => {
    expect([0x6969, 0xff534d42, 0xff534d42 | 0].map(networkOf)).toEqual(["NFS", "CIFS", "CIFS"]);
    // ext4, tmpfs and overlayfs.
    expect([0xef53, 0x01021994, 0x794c7630].map(networkOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each(["memory", "container"] as const)("that is lost with the %s is a warning", (disk) => {
    const [found, ...more] = aboutDisk("bot.db", disk);
    expect(found).toMatchObject({ level: "warn", remedy: expect.stringContaining("volume") });
    expect(more).toEqual([]);
    expect(aboutDisk("bot.db", undefined)).toEqual([]);
  });

  test.skipIf(!existsSync(MEMORY))("in memory is found before it is there, too", async () => {
    const cwd = mkdtempSync(join(MEMORY, "service-bot-"));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    expect(ephemeralDiskOf(join(cwd, "data/bot.db"))).toBe("memory");
    const { findings } = await examine({ DATABASE_URL: `file:${cwd}/data/bot.db` }, { cwd });
    const found = findings.filter(({ area }) => area === "database");
    expect(found).toMatchObject([
      { level: "ok" },
      { level: "warn", what: expect.stringContaining("tmpfs") },
    ]);
  });

  test("is reported by the doctor, with the events that wait for an operator", async () => {
    const cwd = temporaryFolder();
    const file = join(cwd, "bot.db");
    const inbox = new SqliteInbox({ file });
    await inbox.put(messages("1"), "webhook");
    await inbox.bury(first(await inbox.claim(1, 1_000)), "x");
    await inbox.close();
    chmodSync(file, 0o644);
    const { code, findings } = await examine({ DATABASE_URL: "file:bot.db" }, { cwd });
    expect(code).toBe(1);
    const reported = findings.filter(({ area }) => area === "storage" || area === "inbox");
    expect(reported).toEqual([
      expect.objectContaining({
        level: "note",
        remedy: expect.stringContaining("chmod 600 bot.db"),
      }),
      {
        area: "inbox",
        level: "note",
        what: expect.stringContaining("1 dead letter"),
        remedy: expect.stringContaining("service-bot inbox list"),
      },
    ]);
  });
});

describe("an inbox", () => {
  const NOW = 1_800_000_000_000;
  const empty: InboxReport = {
    ...{ pending: 0, done: 0, dead: 0, discarded: 0, oldestPendingAt: undefined },
    ...{ pendingByType: {}, deadByType: {}, deadByError: {} },
    lanes: { ready: 0, waiting: 0, leased: 0, blocked: 0 },
    storage: { bytes: 0, walBytes: 0 },
  };
  const what = (report: Partial<InboxReport>) =>
    aboutInbox({ ...empty, ...report }, NOW).map(({ level, what }) => `${level} ${what}`);

  test("with nothing old and nothing dead is well", () => {
    expect(what({ pending: 3, oldestPendingAt: NOW - 60_000 })).toEqual([
      "ok pending: 3 events, no dead letters",
    ]);
  });

  test("with old events, and lanes behind a retry, is reported", () => {
    const lanes = { ready: 0, waiting: 2, leased: 0, blocked: 2 };
    expect(what({ pending: 30, oldestPendingAt: NOW - 3_600_000, lanes })).toEqual([
      expect.stringMatching(/^note pending: 30 events, .* oldest .*1 h ago; 2 lanes /),
    ]);
  });
});

describe("the dead letters of an inbox", () => {
  const NOW = 1_800_000_000_000;
  const report = (deadByError: InboxReport["deadByError"]): InboxReport => ({
    ...{ pending: 0, done: 0, dead: 9, discarded: 0, oldestPendingAt: undefined },
    ...{ pendingByType: {}, deadByType: {}, deadByError },
    lanes: { ready: 0, waiting: 0, leased: 0, blocked: 0 },
    storage: { bytes: 0, walBytes: 0 },
  });

  test("are reported by code, most frequent first, each with its remedy", () => {
    const found = aboutInbox(
      report({
        "TypeError: x is undefined": 4,
        "ServiceBotError STEP_UNCERTAIN": 1,
        "NetworkError API_TIMEOUT": 1,
        "UnavailableError API_TIMEOUT": 1,
        "ServiceBotError HANDLER_TIMEOUT": 3,
        GiveUp: 1,
        "MongoError TOO_LONG": 1,
        "ServiceBotError OF_A_NEWER_VERSION": 1,
      }),
      NOW,
    );
    expect(found.map(({ level, what }) => `${level} ${what}`)).toEqual([
      "note the inbox has 9 dead letters",
      "note 3 dead letters with HANDLER_TIMEOUT (`npx service-bot inbox list --code HANDLER_TIMEOUT`)",
      "note 2 dead letters with API_TIMEOUT (`npx service-bot inbox list --code API_TIMEOUT`)",
      "note 1 dead letter with STEP_UNCERTAIN (`npx service-bot inbox list --code STEP_UNCERTAIN`)",
      "note 1 dead letter with GAVE_UP (`npx service-bot inbox list --code GAVE_UP`)",
    ]);
    expect(found[1]?.remedy).toContain("ctx.signal");
    expect(found[3]?.remedy).toContain("--assume done");
  });

  test("of many codes are reported for the five most frequent", () => {
    const codes = ["EMPTY", "TOO_LONG", "BLOCKED", "VALIDATION", "TOO_LARGE", "STATE_INVALID"];
    const dead = Object.fromEntries(codes.map((code, n) => [`ServiceBotError ${code}`, n + 1]));
    const found = aboutInbox(report(dead), NOW);
    expect(found).toHaveLength(6);
    expect(found.map(({ what }) => what)).not.toContainEqual(expect.stringContaining("EMPTY"));
  });
});

describe("PostgreSQL", () => {
  test("instances of several versions are reported", () => {
    const [one, other] = [{ version: "0.1.0" }, { version: "0.2.0" }];
    expect(aboutInstances([])).toEqual([]);
    expect(aboutInstances([one, one])).toMatchObject([
      { level: "ok", what: "running: 2 instances, version 0.1.0" },
    ]);
    expect(aboutInstances([one, other, one])).toMatchObject([
      { level: "note", what: "running: 3 instances, versions 0.1.0 and 0.2.0" },
    ]);
  });

  test("a transaction that is open for long is reported, with what ends it", () => {
    const open = { pid: 42, application: "psql", state: "idle in transaction", seconds: 3_600 };
    const [kept, found] = aboutServer({ kind: "server", version: "18.1", longOpen: [open] });
    expect(kept?.level).toBe("ok");
    expect(found).toMatchObject({
      level: "note",
      what: expect.stringContaining("open for 3600 s (pid 42, idle in transaction)"),
      remedy: expect.stringContaining("pg_terminate_backend(42)"),
    });
  });
});
