import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Bot, BotStatus } from "../src/index.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";
import { dm, LogWorld } from "./support/world/log-world.ts";

const API_KEY = "sbk_0123456789abcdef";
const SECRETS = ["whsec_0123456789abcnew", "whsec_0123456789abcold"] as const;
const AUDIT = 60_000;

const answering =
  (status: number, code = "NO", headers: Record<string, string> = {}) =>
  () =>
    Response.json({ error: { code, message: "no" } }, { status, headers });

describe("the platform", () => {
  test("shows the rejected token with the status of the response, until the token is accepted", async () => {
    const world = new LogWorld();
    const bot = await world.start();
    world.answer = answering(401);
    await world.clock.advance(AUDIT);
    const { platform } = await bot.status();
    expect(platform.circuits).toEqual([
      {
        of: "token",
        why: "token",
        code: "API_ERROR",
        status: 401,
        since: world.clock.now(),
        retryAt: expect.any(Number),
      },
    ]);
    expect(platform.circuits[0]?.retryAt).toBeGreaterThan(world.clock.now());
    world.answer = undefined;
    await world.clock.advance(2 * AUDIT);
    expect((await bot.status()).platform.circuits).toEqual([]);
  });

  test("shows an outage with its error, and a requested pause with its end", async () => {
    const world = new LogWorld();
    const bot = await world.start();
    world.answer = () => Promise.reject(new Error("socket hang up"));
    for (let n = 0; n < 5; n++) await bot.client.me().catch(() => undefined);
    expect((await bot.status()).platform.circuits).toContainEqual(
      expect.objectContaining({ of: "platform", why: "outages", code: "API_UNREACHABLE" }),
    );
  });

  test("shows a quota that is used up, with its operation", async () => {
    const world = new LogWorld();
    const bot = await world.start();
    world.answer = answering(429, "QUOTA_EXCEEDED");
    await bot.client.posts.create({ text: "hi" }).catch(() => undefined);
    expect((await bot.status()).platform.circuits).toEqual([
      expect.objectContaining({ of: "POST /posts", why: "quota", status: 429 }),
    ]);
  });

  test("shows how far the clock is off", async () => {
    const world = new LogWorld();
    world.platformAheadMs = 412_000;
    const bot = await world.start();
    expect((await bot.status()).platform.clockSkewMs).toBe(-412_000);
  });
});

const webhookOf = async (bot: Bot): Promise<BotStatus["webhook"]> => (await bot.status()).webhook;

describe("the webhook", () => {
  test("is unknown until a delivery arrives, works then, and names the secret that signed it", async () => {
    const world = new LogWorld();
    const bot = await world.start({ webhookSecret: SECRETS });
    expect(await webhookOf(bot)).toMatchObject({ state: "unknown", secretEnd: undefined });
    await world.deliver(bot, [dm("1")], { secret: SECRETS[1] });
    expect(await webhookOf(bot)).toMatchObject({ state: "working", secretEnd: "cold" });
    await world.deliver(bot, [dm("2")], { secret: SECRETS[0] });
    expect(await webhookOf(bot)).toMatchObject({ state: "working", secretEnd: "cnew" });
  });

  test("is silent while the bot polls, and works again once deliveries return", async () => {
    const world = new LogWorld();
    const bot = await world.start();
    await world.deliver(bot, [dm("1")]);
    for (const id of ["1", "2"]) world.events.add(id);
    await world.clock.advance(AUDIT + 8_000);
    expect(await webhookOf(bot)).toMatchObject({
      state: "silent",
      reason: "1 event did not arrive by webhook within 45 s",
    });
    await world.deliver(bot, [dm("3")]);
    expect(await webhookOf(bot)).toMatchObject({ state: "working" });
  });

  test("is unknown while neither deliveries nor the event log say anything", async () => {
    const world = new LogWorld();
    const bot = await world.start();
    await world.deliver(bot, [dm("1")]);
    world.answer = answering(503);
    await world.clock.advance(AUDIT);
    expect(await webhookOf(bot)).toMatchObject({ state: "working" });
    await world.clock.advance(5 * AUDIT);
    expect(await bot.status()).toMatchObject({
      mode: "auditing",
      webhook: { state: "unknown", reason: expect.stringContaining("unreadable") },
    });
    await world.deliver(bot, [dm("2")]);
    expect(await webhookOf(bot)).toMatchObject({ state: "working" });
  });

  test("is unknown after a restart during an outage, until a delivery arrives", async () => {
    const world = new LogWorld();
    const kept = inFolder(temporaryFolder());
    const before = await world.start(kept);
    await world.deliver(before, [dm("1")]);
    await before.stop();
    world.answer = answering(503);
    await world.clock.advance(1_000);
    const bot = await world.start(kept);
    await world.clock.advance(30_000);
    expect(await webhookOf(bot)).toMatchObject({ state: "unknown" });
    await world.deliver(bot, [dm("2")]);
    expect(await webhookOf(bot)).toMatchObject({ state: "working" });
  });

  test("counts the refused deliveries since the last stored one", async () => {
    const world = new LogWorld();
    const bot = await world.start();
    for (const _ of [1, 2]) await world.deliver(bot, [dm("1")], { secret: "whsec_of_another" });
    expect(await webhookOf(bot)).toMatchObject({
      refused: 2,
      lastRefusal: { at: world.clock.now(), status: 401, code: "SIGNATURE_MISMATCH" },
    });
    await world.deliver(bot, [dm("1")]);
    expect(await webhookOf(bot)).toMatchObject({ refused: 0, lastRefusal: undefined });
  });

  test("is absent from a bot that only polls, and never judged without the log", async () => {
    const world = new LogWorld();
    expect(await webhookOf(await world.start({ delivery: "polling" }))).toBeUndefined();
    const bot = await world.start({ delivery: "webhook" });
    await world.deliver(bot, [dm("1")]);
    expect(await webhookOf(bot)).toMatchObject({
      state: "unknown",
      reason: expect.stringContaining("DELIVERY=webhook"),
    });
  });
});

const inFolder = (folder: string) => ({ databaseUrl: `file:${join(folder, "bot.db")}` });

describe("the store", () => {
  test("shows a disk that is nearly full, and what the bot keeps free", async () => {
    const world = new LogWorld();
    const options = { ...inFolder(temporaryFolder()), minFreeBytes: Number.MAX_SAFE_INTEGER };
    const bot = await world.start(options);
    expect(await world.deliver(bot, [dm("1")])).toBe(503);
    expect((await bot.status()).store).toEqual({
      failure: undefined,
      disk: {
        isLow: true,
        freeBytes: expect.any(Number),
        minFreeBytes: Number.MAX_SAFE_INTEGER,
      },
    });
  });

  test("shows a failed transaction until one succeeds", async () => {
    const world = new LogWorld();
    const folder = temporaryFolder();
    const bot = await world.start(inFolder(folder));
    const other = new Sqlite(join(folder, "bot.db"));
    other.exec("BEGIN IMMEDIATE");
    expect(await world.deliver(bot, [dm("1")])).toBe(503);
    const since = world.clock.now();
    expect((await bot.status()).store.failure).toEqual({ reason: "locked", since });
    other.exec("ROLLBACK");
    other.close();
    expect(await world.deliver(bot, [dm("1")])).toBe(200);
    expect((await bot.status()).store.failure).toBeUndefined();
  });
});

test("a lost file of the inbox is shown until it is back, even if nothing is stored then", async () => {
  const world = new LogWorld();
  const folder = temporaryFolder();
  const bot = await world.start({ ...inFolder(folder), delivery: "webhook" });
  const file = join(folder, "bot.db");
  renameSync(file, `${file}.elsewhere`);
  expect(await world.deliver(bot, [dm("1")])).toBe(503);
  expect(await bot.status()).toMatchObject({
    inboxProblem: expect.stringContaining("bot.db"),
    store: { failure: { reason: "file_lost" } },
  });
  renameSync(`${file}.elsewhere`, file);
  expect(await bot.status()).toMatchObject({
    inboxProblem: undefined,
    store: { failure: undefined },
  });
});

describe("the last delivery", () => {
  test("is known after a restart, even if it had only repeated events", async () => {
    const world = new LogWorld();
    const options = inFolder(temporaryFolder());
    const bot = await world.start(options);
    await world.deliver(bot, [dm("1")]);
    await world.clock.advance(5_000);
    const at = world.clock.now();
    await world.deliver(bot, [dm("1")]);
    await bot.stop();
    await world.clock.advance(3_600_000);
    expect((await (await world.start(options)).status()).lastDeliveryAt).toBe(at);
  });

  test("is known after a crash", async () => {
    const world = new LogWorld();
    const [folder, copy] = [temporaryFolder(), temporaryFolder()];
    const bot = await world.start(inFolder(folder));
    const at = world.clock.now();
    await world.deliver(bot, [dm("1")]);
    for (const name of ["bot.db", "bot.db-wal"]) {
      copyFileSync(join(folder, name), join(copy, name));
    }
    await world.clock.advance(3_600_000);
    expect((await (await world.start(inFolder(copy))).status()).lastDeliveryAt).toBe(at);
  });

  test("costs a write every ten seconds at most, and none without deliveries", async () => {
    const world = new LogWorld();
    const folder = temporaryFolder();
    const bot = await world.start({ ...inFolder(folder), delivery: "webhook" });
    await world.clock.advance(60_000);
    const file = new Sqlite(join(folder, "bot.db"), { readonly: true });
    const written = () =>
      file.prepare("SELECT position FROM cursor WHERE name = 'delivered'").pluck().get();
    expect(written()).toBeUndefined();
    for (const id of ["1", "2", "3"]) await world.deliver(bot, [dm(id)]);
    expect(written()).toBeUndefined();
    const at = world.clock.now();
    await world.clock.advance(10_000);
    expect(written()).toBe(String(at));
    file.close();
  });
});

describe("the credentials", () => {
  test("are shown by their last four characters in the status and in the ready line", async () => {
    const world = new LogWorld();
    const bot = await world.start({ apiKey: API_KEY, webhookSecret: SECRETS });
    const credentials = { apiKeyEnd: "cdef", webhookSecretEnds: ["cnew", "cold"] };
    expect((await bot.status()).credentials).toEqual(credentials);
    expect(world.log.records.find(({ msg }) => msg === "ready")).toMatchObject(credentials);
    for (const secret of [API_KEY, ...SECRETS]) {
      expect(world.log.text()).not.toContain(secret.slice(-6));
    }
  });
});
