import { readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { PLATFORM_SCHEMA } from "../../faces/files.ts";
import type { Platform, PlatformState, SnapshotView } from "../../faces/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { newUpload } from "../conformance/setup.ts";
import { ManualClock } from "../support/clock.ts";
import {
  act,
  type ErrorBody,
  ids,
  request,
  runPlatform,
  tokenWith,
  withControlToken,
  worldOf,
} from "../support/platform.ts";

type Bytes = string | Uint8Array<ArrayBuffer>;

interface List {
  readonly items: readonly SnapshotView[];
}

/** Reads all state visible to a bot and its owner. Keys that are paths begin with a slash. */
async function seen(platform: Platform): Promise<object> {
  const { control } = platform;
  const read = async (path: string) => (await request(platform, "GET", `/api/v1${path}`)).body;
  const { timelineSeq: _, ...state } = control.state();
  // Keep only the limit itself, because these reads use up the bot's request quota.
  const { requestsPerMinute, ...limits } = control.limits;
  const all = {
    state,
    events: control.events(),
    blocks: control.blocks,
    limits: { ...limits, requestsPerMinute: requestsPerMinute.limit },
    storage: control.storage,
    clock: control.clock.view,
    secrets: [platform.apiKey, platform.webhookSecret],
    feed: await read("/feed?limit=50"),
    conversations: await read("/dm/conversations?limit=50"),
    comments: control.comments("p_1"),
  };
  return JSON.parse(JSON.stringify(all).replaceAll(platform.url, ""));
}

async function changeEverything(platform: Platform): Promise<void> {
  const { control } = platform;
  act(platform, "dm.message", { text: "hello", images: 2 });
  act(platform, "comment", { from: "new", images: 1 });
  act(platform, "like", { count: 3 });
  control.createGroup({ members: ["ada", "ben", "bot"] });
  control.setBlock({ by: "ben" });
  control.createToken(["read"], "other");
  control.saveWebhook({ url: "https://example.org/", types: ["follow"] });
  control.regenerateWebhookSecret();
  control.setLimits({ dmsPerDay: 7 });
  const { key } = await newUpload(worldOf(platform));
  await request(platform, "POST", "/api/v1/posts", { body: { imageKeys: [key] } });
  control.setStorage({ configured: false });
  control.clock.set({ advanceMs: 86_400_000, frozen: true });
}

async function download(platform: Platform, id: string): Promise<Response> {
  return fetch(`${platform.url}/control/v1/snapshots/${id}/file`, {
    headers: withControlToken(platform),
  });
}

async function upload(platform: Platform, bytes: Bytes, name?: string) {
  const query = name === undefined ? "" : `?name=${name}`;
  const response = await fetch(`${platform.url}/control/v1/snapshots/file${query}`, {
    method: "POST",
    headers: { "content-type": "application/vnd.sqlite3", ...withControlToken(platform) },
    body: bytes,
  });
  return { status: response.status, body: (await response.json()) as SnapshotView & ErrorBody };
}

test.each(["in memory", "in a file"])("a snapshot restores everything, %s", async (where) => {
  const clock = new ManualClock();
  const stateFile = where === "in a file" ? `${temporaryFolder()}/state.db` : undefined;
  const platform = await runPlatform({ clock, stateFile });
  const empty = platform.control.snapshots.take();
  const first = await seen(platform);
  await changeEverything(platform);
  const full = platform.control.snapshots.take("full");
  const second = await seen(platform);
  expect(second).not.toEqual(first);
  platform.control.snapshots.restore(empty.id);
  expect(await seen(platform)).toEqual(first);
  await changeEverything(platform);
  platform.control.snapshots.restore(full.id);
  expect(await seen(platform)).toEqual(second);
});

test("the state file holds the restored state", async () => {
  const clock = new ManualClock();
  const stateFile = `${temporaryFolder()}/state.db`;
  const one = await runPlatform({ stateFile, clock });
  await changeEverything(one);
  const { id } = one.control.snapshots.take();
  const before = await seen(one);
  one.control.reset();
  one.control.snapshots.restore(id);
  await one.stop();
  const other = await runPlatform({ stateFile, clock });
  expect(await seen(other)).toEqual(before);
  await other.stop();
  const db = new Sqlite(stateFile);
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(db.pragma("foreign_key_check")).toEqual([]);
  db.close();
});

test("event numbers never go back, even after a restore, a reset, an upload, and a restart", async () => {
  const stateFile = `${temporaryFolder()}/state.db`;
  const platform = await runPlatform({ stateFile });
  const next = (of: Platform = platform) => ids(act(of, "follow"))[0];
  const { id } = platform.control.snapshots.take();
  expect([next(), next()]).toEqual(["evt_000000000001", "evt_000000000002"]);
  platform.control.snapshots.restore(id);
  expect(platform.control.events()).toEqual([]);
  expect(next()).toBe("evt_000000000003");
  platform.control.reset();
  expect(next()).toBe("evt_000000000004");
  const other = await runPlatform();
  act(other, "follow", { count: 9 });
  const file = other.control.snapshots.file(other.control.snapshots.take().id);
  platform.control.snapshots.restore(platform.control.snapshots.upload(file).id);
  expect(platform.control.events()).toHaveLength(9);
  expect(next()).toBe("evt_000000000010");
  platform.control.snapshots.restore(id);
  await platform.stop();
  expect(next(await runPlatform({ stateFile }))).toBe("evt_000000000011");
});

test("event numbers continue after those in an uploaded state, including its deleted events", async () => {
  const [platform, other] = [await runPlatform(), await runPlatform()];
  act(other, "follow", { count: 9 });
  other.control.reset();
  const file = other.control.snapshots.file(other.control.snapshots.take().id);
  platform.control.snapshots.restore(platform.control.snapshots.upload(file).id);
  expect(ids(act(platform, "follow"))).toEqual(["evt_000000000010"]);
});

test("the requests per minute are counted from zero again after a restore", async () => {
  const limits = { requestsPerMinute: 1 };
  const platform = await runPlatform({ clock: new ManualClock(), limits });
  const me = async () => (await request(platform, "GET", "/api/v1/me")).status;
  const { id } = platform.control.snapshots.take();
  expect([await me(), await me()]).toEqual([200, 429]);
  platform.control.snapshots.restore(id);
  expect([await me(), await me()]).toEqual([200, 429]);
});

test("a polling bot gets events after a restore, from its own cursor", async () => {
  const platform = await runPlatform();
  const { id } = platform.control.snapshots.take();
  const [since = ""] = ids(act(platform, "follow", { count: 5 })).slice(-1);
  platform.control.snapshots.restore(id);
  const read = () =>
    request<{ events: unknown[]; cursor: string }>(
      platform,
      "GET",
      `/api/v1/events?since=${since}`,
    );
  expect((await read()).body).toEqual({ events: [], cursor: since });
  const { events } = act(platform, "like");
  expect((await read()).body.events).toEqual(events);
});

test("a reset creates a new state; the first app keeps its tokens and its secret", async () => {
  const limits = { dmsPerDay: 3 };
  const platform = await runPlatform({ clock: new ManualClock(), limits });
  const before = await seen(platform);
  const limited = tokenWith(platform, "read");
  const foreign = platform.control.createToken(["read"], "other").apiKey;
  await changeEverything(platform);
  const secret = platform.webhookSecret;
  const { status, body } = await request<PlatformState>(platform, "POST", "/control/v1/reset");
  expect(status).toBe(200);
  expect(body).toEqual(platform.control.state());
  const secrets = [platform.apiKey, secret];
  expect(await seen(platform)).toEqual({ ...before, secrets });
  const me = async (token: string) =>
    (await request(platform, "GET", "/api/v1/me", { token })).status;
  expect(await Promise.all([platform.apiKey, limited, foreign].map(me))).toEqual([200, 200, 401]);
  expect((await request(platform, "GET", "/api/v1/feed", { token: limited })).status).toBe(200);
  const write = { token: limited, body: { text: "x" } };
  expect((await request(platform, "POST", "/api/v1/posts", write)).status).toBe(403);
});

test("faults end with a restore, and the timeline records the restore", async () => {
  const platform = await runPlatform();
  const { id } = platform.control.snapshots.take("calm");
  const none = platform.control.faults;
  platform.control.setFaults({ api: { mode: "status" }, webhook: { mode: "status", times: 3 } });
  const after = platform.control.state().timelineSeq;
  platform.control.snapshots.restore(id);
  expect(platform.control.faults).toMatchObject({ api: none.api, webhook: { mode: "none" } });
  const { seq: _, ...entry } = await platform.waitFor("state", () => true, { after });
  expect(entry).toMatchObject({ change: "restored", detail: "snap_1 (calm)" });
  expect((await request(platform, "GET", "/api/v1/me")).status).toBe(200);
});

test("snapshots are listed, named and deleted", async () => {
  const clock = new ManualClock(Date.UTC(2030, 0, 1));
  const platform = await runPlatform({ clock });
  const path = "/control/v1/snapshots";
  const first = await request<SnapshotView>(platform, "POST", path);
  const at = "2030-01-01T00:00:00.000Z";
  expect(first).toMatchObject({ status: 201, body: { id: "snap_1", name: "snap_1", at } });
  const second = await request<SnapshotView>(platform, "POST", path, { body: { name: "b" } });
  expect(second.body).toMatchObject({ id: "snap_2", name: "b" });
  const list = await request<List>(platform, "GET", path);
  expect(list.body.items).toEqual([first.body, second.body]);
  expect(first.body.bytes).toBe((await (await download(platform, "snap_1")).bytes()).length);
  const rest = await request<List>(platform, "DELETE", `${path}/snap_1`);
  expect(rest).toMatchObject({ status: 200, body: { items: [second.body] } });
  for (const [method, gone] of [
    ["DELETE", "snap_1"],
    ["POST", "snap_1/restore"],
    ["GET", "snap_1/file"],
  ] as const) {
    expect((await request(platform, method, `${path}/${gone}`)).status, gone).toBe(404);
  }
  expect((await request<SnapshotView>(platform, "POST", path)).body.id).toBe("snap_3");
});

test("at most 20 snapshots are kept, and none is removed automatically", async () => {
  const platform = await runPlatform();
  for (let n = 1; n <= 20; n += 1) platform.control.snapshots.take();
  const refused = await request(platform, "POST", "/control/v1/snapshots");
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "SNAPSHOTS_FULL" } } });
  expect(refused.body.error.message).toContain("Delete a snapshot");
  platform.control.snapshots.remove("snap_7");
  expect(platform.control.snapshots.take().id).toBe("snap_21");
});

test("a downloaded snapshot is a state file, and can be uploaded to another platform", async () => {
  const clock = new ManualClock();
  const one = await runPlatform({ clock });
  await changeEverything(one);
  const response = await download(one, one.control.snapshots.take().id);
  expect(response.headers.get("content-type")).toBe("application/vnd.sqlite3");
  expect(response.headers.get("content-disposition")).toContain("snap_1.db");
  const bytes = Buffer.from(await response.arrayBuffer());
  const stateFile = `${temporaryFolder()}/state.db`;
  const file = new Sqlite(bytes);
  await file.backup(stateFile);
  file.close();
  expect(await seen(await runPlatform({ stateFile, clock }))).toEqual(await seen(one));

  const other = await runPlatform({ clock });
  const secrets = [other.apiKey, other.webhookSecret];
  const { status, body } = await upload(other, bytes, "world");
  expect(status).toBe(201);
  expect(body).toMatchObject({ id: "snap_1", name: "world", bytes: bytes.length });
  expect(other.control.events()).toEqual([]);
  const path = `/control/v1/snapshots/${body.id}/restore`;
  const restored = await request<PlatformState>(other, "POST", path);
  expect(restored).toMatchObject({ status: 200, body: other.control.state() });
  // Everything is the same except the secrets, because the bot connected to this platform keeps using its own.
  expect(await seen(other)).toEqual({ ...(await seen(one)), secrets });
});

async function stateFileWith(sql: string): Promise<Buffer<ArrayBuffer>> {
  const stateFile = `${temporaryFolder()}/state.db`;
  const platform = await runPlatform({ stateFile });
  act(platform, "dm.message", { count: 50 });
  await platform.stop();
  const db = new Sqlite(stateFile);
  db.pragma("foreign_keys = OFF");
  db.pragma("ignore_check_constraints = ON");
  db.exec(sql);
  const bytes = Buffer.from(db.serialize());
  db.close();
  return bytes;
}

const foreign = (sql: string) => {
  const db = new Sqlite(":memory:");
  db.exec(sql);
  const bytes = Buffer.from(db.serialize());
  db.close();
  return bytes;
};

const firstVersion = `
  ${readFileSync(join(PLATFORM_SCHEMA, "001_platform.sql"), "utf8")}
  INSERT INTO user VALUES (1, 'bot', 'Bot', 1), (2, 'ada', 'Ada', 0);
  INSERT INTO event VALUES (7, 'follow', '{}', 0);
  INSERT INTO token VALUES ('sbk_old', '["read"]', 1);
  INSERT INTO webhook VALUES (1, NULL, '[]', 'whsec_old', 0, 0, NULL);
  PRAGMA user_version = 1;`;

const unusable: readonly [string, () => Promise<Bytes> | Bytes, string][] = [
  ["an empty body", () => "", "Send the bytes"],
  ["no SQLite file", () => "canary".repeat(2_000), "not a SQLite file"],
  ["an empty SQLite file", () => foreign("CREATE TABLE a (x); DROP TABLE a;"), "not a snapshot"],
  ["somebody else's database", () => foreign("CREATE TABLE a (x);"), "not a snapshot"],
  [
    "a database with some of the tables",
    () => foreign("CREATE TABLE event(x); CREATE TABLE token(x); PRAGMA user_version = 2;"),
    "not a snapshot",
  ],
  [
    "a database with other tables of the same names",
    () =>
      foreign(`CREATE TABLE event (x); CREATE TABLE token (x); CREATE TABLE user (x);
               CREATE TABLE webhook (x); PRAGMA user_version = 1;`),
    "not a snapshot",
  ],
  ["a newer version", () => stateFileWith("PRAGMA user_version = 999;"), "Update service-bot"],
  ["a further table", () => stateFileWith("CREATE TABLE more (x);"), "not a snapshot"],
  [
    "a further column",
    () => stateFileWith("ALTER TABLE post ADD COLUMN x TEXT;"),
    "not a snapshot",
  ],
  [
    "a trigger",
    () => stateFileWith("CREATE TRIGGER t AFTER INSERT ON post BEGIN DELETE FROM user; END;"),
    "not a snapshot",
  ],
  ["no bot", () => stateFileWith("UPDATE user SET is_bot = 0;"), "not a snapshot"],
  ["no webhook", () => stateFileWith("DELETE FROM webhook;"), "not a snapshot"],
  [
    "an event that is no JSON",
    () => stateFileWith("UPDATE event SET payload = '{no';"),
    "not a snapshot",
  ],
  ["a row that refers to nothing", () => stateFileWith("DELETE FROM user WHERE seq = 2;"), ""],
  ["a value that a check forbids", () => stateFileWith("UPDATE user SET is_bot = 7;"), "damaged"],
  [
    "a file that is cut off",
    async () => (await stateFileWith("")).subarray(0, 40_960),
    "The snapshot is damaged",
  ],
  [
    "a file with a page of noise",
    async () => (await stateFileWith("")).fill(0xa5, 8_192, 12_288),
    "The snapshot is damaged",
  ],
];

test.each(unusable)(
  "an upload with %s is rejected, and changes nothing",
  async (_, make, message) => {
    const platform = await runPlatform({ clock: new ManualClock() });
    act(platform, "follow");
    const before = await seen(platform);
    const { status, body } = await upload(platform, await make());
    expect(body).toMatchObject({ error: { code: "VALIDATION" } });
    expect(status).toBe(400);
    expect(body.error.message).toContain(message);
    expect(body.error.message).toContain(".");
    expect(body.error.message).not.toContain("canary");
    expect(platform.control.snapshots.list()).toEqual([]);
    expect(await seen(platform)).toEqual(before);
  },
);

test("the same file without the damage is accepted, with and without a WAL, and from an older version", async () => {
  const platform = await runPlatform();
  const bytes = await stateFileWith("");
  expect(bytes[18]).toBe(2);
  const { status, body } = await upload(platform, bytes);
  expect(status).toBe(201);
  const { id } = platform.control.snapshots.upload(foreign(firstVersion));
  for (const [one, events] of [
    [body.id, 50],
    [id, 1],
  ] as const) {
    platform.control.reset();
    platform.control.snapshots.restore(one);
    expect(platform.control.events()).toHaveLength(events);
  }
});

test("a file with another content type is rejected", async () => {
  const platform = await runPlatform();
  const send = async (type: string) => {
    const url = `${platform.url}/control/v1/snapshots/file`;
    const headers = { "content-type": type, ...withControlToken(platform) };
    const init = { method: "POST", headers, body: "x" };
    return (await fetch(url, init)).status;
  };
  expect(await send("application/json")).toBe(415);
  // Web pages may send these content types cross-origin without a preflight.
  expect(await send("text/plain")).toBe(415);
  expect(await send("application/vnd.sqlite3")).toBe(400);
});

test("invalid settings in a snapshot count as not set", async () => {
  const platform = await runPlatform({ clock: new ManualClock() });
  const file = await stateFileWith(`
    UPDATE setting SET value = '{"dmsPerDay":-5,"postsPerDay":4}' WHERE name = 'limits';
    UPDATE setting SET value = '{"offsetMs":1e300,"frozenAt":null}' WHERE name = 'clock';
    UPDATE setting SET value = 'no JSON' WHERE name = 'storage';`);
  platform.control.snapshots.restore(platform.control.snapshots.upload(file).id);
  expect(platform.control.limits).toMatchObject({
    dmsPerDay: { limit: null },
    postsPerDay: { limit: 4 },
  });
  expect(platform.control.clock.view.offsetMs).toBe(0);
  expect(platform.control.storage).toEqual({ configured: true });
});
