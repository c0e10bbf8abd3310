import { readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { PLATFORM_SCHEMA } from "../faces/files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { act, request, runPlatform } from "./support/platform.ts";

const sql = (name: string) => readFileSync(join(PLATFORM_SCHEMA, `${name}.sql`), "utf8");
const first = sql("001_platform");
const second = sql("002_images_groups_blocks");

test("a state file older than images keeps its content, and accepts images", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const db = new Sqlite(stateFile);
  db.exec(`${first}
    INSERT INTO user VALUES (1, 'bot', 'Bot', 1), (2, 'ada', 'Ada', 0), (3, 'ben', 'Ben', 0);
    INSERT INTO conversation VALUES (1, 2, 3, NULL), (2, 1, 2, NULL), (3, 1, 3, NULL);
    INSERT INTO message VALUES (1, 1, 2, 'Lunch?', 0), (5, 2, 2, 'hi', 1), (6, 2, 1, 'hello', 2);
    UPDATE conversation SET last_message = 1 WHERE seq = 1;
    UPDATE conversation SET last_message = 6 WHERE seq = 2;
    INSERT INTO post VALUES (1, 1, 'Hello', 0);
    INSERT INTO token VALUES ('sbk_old', '["read","posts:write","comments:write","dm"]', 1);
    INSERT INTO webhook VALUES (1, NULL, '[]', 'whsec_old', 0, 0, NULL);
    PRAGMA user_version = 1;`);
  db.close();
  const platform = await runPlatform({ stateFile });
  expect(platform).toMatchObject({ apiKey: "sbk_old", webhookSecret: "whsec_old" });
  const { body } = await request(platform, "GET", "/api/v1/dm/conversations");
  expect(body).toMatchObject({ items: [{ id: "c_2", lastMessage: { text: "hello" } }] });
  const ids = (conversation: string) => platform.control.messages(conversation).map(({ id }) => id);
  expect(ids("c_2")).toEqual(["m_5", "m_6"]);
  expect(ids("c_1")).toEqual(["m_1"]);
  expect(act(platform, "dm.message")).toMatchObject({ conversationId: "c_2", messageId: "m_7" });
  expect(act(platform, "dm.message", { from: "ben" }).conversationId).toBe("c_3");
  const { conversationId } = platform.control.createGroup({ members: ["ada", "bot"] });
  expect(conversationId).toBe("c_4");
  await platform.stop();
  const after = new Sqlite(stateFile);
  expect(after.pragma("foreign_key_check")).toEqual([]);
  after.close();
});

test("a state file older than apps gets one app per bot", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const db = new Sqlite(stateFile);
  db.exec(`${first}${second}
    INSERT INTO user VALUES (1, 'bot', 'Bot', 1), (2, 'ada', 'Ada', 0), (3, 'other', 'Other', 1);
    INSERT INTO post VALUES (1, 1, 'Hello', 0), (2, 2, 'Sun', 0), (3, 2, 'Rain', 0);
    INSERT INTO comment VALUES (1, 2, 1, NULL, 'yes', 0), (2, 2, 3, 1, 'no', 0);
    INSERT INTO token VALUES ('sbk_old', '["read","dm"]', 1, 1), ('sbk_other', '["read"]', 0, 3);
    INSERT INTO webhook VALUES (1, 'http://127.0.0.1:9/', '["like"]', 'whsec_old', 1, 2, NULL);
    INSERT INTO event VALUES (1, 'follow', '{}', 0), (2, 'like', '{}', 0);
    INSERT INTO pending_delivery VALUES (2);
    PRAGMA user_version = 2;`);
  db.close();
  const platform = await runPlatform({ stateFile });
  const delivery = await platform.waitFor("delivery");
  expect(delivery).toMatchObject({ bot: "bot", eventIds: ["evt_000000000002"], attempt: 3 });
  const { control } = platform;
  const off = {
    url: null,
    types: [],
    enabled: false,
    consecutiveFailures: 0,
    disabledReason: null,
  };
  expect(control.apps.list()).toMatchObject([
    { bot: { username: "bot" }, disabled: false, webhook: { types: ["like"] }, tokens: 1 },
    { bot: { username: "other" }, disabled: false, webhook: off, tokens: 1 },
  ]);
  expect(control.events().map(({ id }) => id)).toEqual(["evt_000000000001", "evt_000000000002"]);
  expect(control.events(undefined, "other")).toEqual([]);
  const [event] = act(platform, "follow", { to: "other" }).events;
  expect(event?.id).toBe("evt_000000000003");
  const read = await request(platform, "GET", "/api/v1/events", { token: "sbk_other" });
  expect(read.body).toMatchObject({ events: [{ id: event?.id }] });
  const feed = await request(platform, "GET", "/api/v1/feed?sort=trending");
  expect(feed.body).toMatchObject({ items: [{ id: "p_2" }, { id: "p_3" }] });
  await platform.stop();
  const after = new Sqlite(stateFile);
  expect(after.pragma("foreign_key_check")).toEqual([]);
  const secrets = after.prepare("SELECT secret FROM webhook ORDER BY bot").pluck().all();
  expect(secrets).toEqual(["whsec_old", expect.stringMatching(/^whsec_[0-9a-f]{48}$/)]);
  after.close();
});

test("images older than thumbnails are shown without one", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const db = new Sqlite(stateFile);
  db.exec(`${first}
    INSERT INTO user VALUES (1, 'bot', 'Bot', 1);
    INSERT INTO webhook VALUES (1, NULL, '[]', 'whsec_old', 0, 0, NULL);
    INSERT INTO post VALUES (1, 1, 'Hello', 0);
    INSERT INTO token VALUES ('sbk_old', '["read"]', 1);
    ${second}
    INSERT INTO image VALUES (1, 'a.png', NULL, 1, 'png', 9, 7, 0, 1, NULL, NULL, 0, x'00');
    PRAGMA user_version = 2;`);
  db.close();
  const platform = await runPlatform({ stateFile });
  const { body } = await request(platform, "GET", "/api/v1/posts/p_1");
  const url = `${platform.url}/media/a.png`;
  expect(body).toMatchObject({ images: [{ url, thumbUrl: null, width: 9, height: 7 }] });
  expect((await fetch(url)).status).toBe(200);
});

test("likes, reposts and quotes older than their counters are counted from the events", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const earlier = ["003_apps", "004_late_events", "005_settings", "006_thumbnails"].map(sql);
  const payload = (entityId: string, postId: string, entityType = "post") =>
    JSON.stringify({ actor: { username: "ada" }, entityType, entityId, postId });
  const db = new Sqlite(stateFile);
  db.exec(`${first}
    INSERT INTO user VALUES (1, 'bot', 'Bot', 1), (2, 'ada', 'Ada', 0);
    INSERT INTO webhook VALUES (1, NULL, '[]', 'whsec_old', 0, 0, NULL);
    INSERT INTO token VALUES ('sbk_old', '["read"]', 1);
    INSERT INTO post VALUES (1, 1, 'Hello', 0), (2, 2, 'Look', 0);
    ${second}${earlier.join("")}
    UPDATE post SET reactions = 6 WHERE seq = 1;
    INSERT INTO event VALUES
      (1, 1, 'like', '${payload("p_1", "p_1")}', 0), (2, 1, 'like', '${payload("p_1", "p_1")}', 0),
      (3, 1, 'like', '${payload("cm_1", "p_1", "comment")}', 0),
      (4, 1, 'repost', '${payload("p_1", "p_1")}', 0), (5, 1, 'quote', '${payload("p_2", "p_1")}', 0),
      (6, 1, 'quote', '${payload("p_9", "p_8")}', 0), (7, 1, 'poke', '{}', 0);
    PRAGMA user_version = 6;`);
  db.close();
  const { control } = await runPlatform({ stateFile });
  expect(control.posts().items).toMatchObject([
    { id: "p_2", likes: 0, reposts: 0, quotes: 0, quotedPostId: "p_1" },
    { id: "p_1", likes: 2, reposts: 1, quotes: 1, comments: 0, quotedPostId: null },
  ]);
});
