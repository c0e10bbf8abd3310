import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { newUpload } from "../conformance/setup.ts";
import { ManualClock } from "../support/clock.ts";
import { request, runPlatform, worldOf } from "../support/platform.ts";

const HOUR_MS = 3_600_000;

function post(platform: { url: string } & Parameters<typeof request>[0], key: string) {
  return request(platform, "POST", "/api/v1/posts", { body: { imageKeys: [key] } });
}

function rowsIn(stateFile: string): unknown[] {
  const db = new Sqlite(stateFile);
  const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const rows = [count("image"), count("thumbnail")];
  db.close();
  return rows;
}

test("an upload expires even if its removal is late", async () => {
  const clock = new ManualClock();
  // Simulates a machine that was asleep: timers never fire.
  const late = { now: () => clock.now(), timer: () => () => {} };
  const platform = await runPlatform({ clock: late });
  const upload = await newUpload(worldOf(platform));
  clock.advance(HOUR_MS);
  expect((await post(platform, upload.key)).status).toBe(400);
  expect((await fetch(upload.url)).status).toBe(404);
  expect((await fetch(upload.thumbUrl)).status).toBe(404);
});

test("an unattached upload is removed after an hour; an attached one stays", async () => {
  const clock = new ManualClock();
  const stateFile = join(temporaryFolder(), "state.db");
  const platform = await runPlatform({ clock, stateFile });
  const [kept, dropped] = [await newUpload(worldOf(platform)), await newUpload(worldOf(platform))];
  await post(platform, kept.key);
  clock.advance(HOUR_MS);
  for (const url of [dropped.url, dropped.thumbUrl]) expect((await fetch(url)).status).toBe(404);
  for (const url of [kept.url, kept.thumbUrl]) expect((await fetch(url)).status).toBe(200);
  await platform.stop();
  expect(rowsIn(stateFile)).toEqual([1, 1]);
});

test("each upload is removed at its own time", async () => {
  const clock = new ManualClock();
  const stateFile = join(temporaryFolder(), "state.db");
  const platform = await runPlatform({ clock, stateFile });
  await newUpload(worldOf(platform));
  clock.advance(HOUR_MS / 2);
  await newUpload(worldOf(platform));
  clock.advance(HOUR_MS / 2);
  await platform.stop();
  expect(rowsIn(stateFile)).toEqual([1, 1]);
});

test("uploads survive a restart, which removes the expired ones", async () => {
  const clock = new ManualClock();
  const stateFile = join(temporaryFolder(), "state.db");
  const first = await runPlatform({ clock, stateFile });
  const early = await newUpload(worldOf(first));
  clock.advance(HOUR_MS / 2);
  const late = await newUpload(worldOf(first));
  await first.stop();
  clock.advance(HOUR_MS / 2);
  const second = await runPlatform({ clock, stateFile });
  const file = (url: string) => fetch(`${second.url}${new URL(url).pathname}`);
  expect((await file(early.url)).status).toBe(404);
  expect((await file(late.url)).status).toBe(200);
  expect((await post(second, late.key)).status).toBe(201);
  await second.stop();
  expect(rowsIn(stateFile)).toEqual([1, 1]);
});
