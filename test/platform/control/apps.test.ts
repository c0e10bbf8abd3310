import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AppView, NewApp, Platform, TokenView } from "../../faces/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver } from "../support/receiver.ts";
import { startWithHeldDownloads } from "../uploads/start.ts";

async function get<T>(platform: Platform, path: string): Promise<T> {
  const { status, body } = await request<T>(platform, "GET", `/control/v1${path}`);
  expect(status).toBe(200);
  return body;
}

const put = (platform: Platform, path: string, body: unknown) =>
  request(platform, "PUT", `/control/v1${path}`, { body });

const off = {
  url: null,
  types: [],
  enabled: false,
  consecutiveFailures: 0,
  disabledReason: null,
  disableAfter: 20,
};

describe("an app", () => {
  test("is created with a token and a secret, which are shown once", async () => {
    const platform = await runPlatform();
    const made = await request<NewApp>(platform, "POST", "/control/v1/apps", {
      body: { username: "@Helper", name: "The Helper" },
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      bot: { username: "helper", name: "The Helper" },
      apiKey: expect.stringMatching(/^sbk_[0-9a-f]{48}$/),
      webhookSecret: expect.stringMatching(/^whsec_[0-9a-f]{48}$/),
    });
    const { apiKey: token, webhookSecret } = made.body;
    expect(webhookSecret).not.toBe(platform.webhookSecret);
    const me = await request(platform, "GET", "/api/v1/me", { token });
    expect(me.body).toMatchObject({ username: "helper", isBot: true });
    const list = await get<{ items: AppView[] }>(platform, "/apps");
    expect(list.items).toEqual([
      { bot: { username: "bot", name: "Bot" }, disabled: false, webhook: off, tokens: 1 },
      { bot: made.body.bot, disabled: false, webhook: off, tokens: 1 },
    ]);
    const timeline = await get(platform, "/timeline");
    for (const shown of [list, timeline]) expect(JSON.stringify(shown)).not.toMatch(/sbk_|whsec_/);
    expect(timeline).toMatchObject({
      entries: [{ kind: "app", bot: "helper", change: "created" }, {}],
    });
  });

  test("survives a restart with all its data", async () => {
    const stateFile = join(temporaryFolder(), "state.db");
    const first = await runPlatform({ stateFile });
    const { apiKey: token } = first.control.apps.create({ username: "other" });
    act(first, "follow", { to: "other" });
    first.control.saveWebhook({ url: "https://example.org/", enabled: false }, "other");
    first.control.apps.set("other", { disabled: true });
    const before = [first.control.apps.list(), first.control.events(undefined, "other")];
    await first.stop();
    const second = await runPlatform({ stateFile });
    expect([second.control.apps.list(), second.control.events(undefined, "other")]).toEqual(before);
    expect((await request(second, "GET", "/api/v1/me", { token })).status).toBe(403);
  });

  test("is selected by its bot's name; the default is the first one", async () => {
    const platform = await runPlatform();
    platform.control.apps.create({ username: "other" });
    act(platform, "follow", { to: "other" });
    await put(platform, "/webhook?bot=other", { url: "https://example.org/", enabled: false });
    await request(platform, "POST", "/control/v1/webhook/secret?bot=other");
    for (const [path, others, own] of [
      [
        "/state",
        { bot: { username: "other" }, lastEventId: "evt_000000000001" },
        { lastEventId: null },
      ],
      ["/webhook", { url: "https://example.org/" }, { url: null }],
      ["/events", { events: [{ type: "follow" }] }, { events: [] }],
      ["/tokens", { items: [{ id: "t_2" }] }, { items: [{ id: "t_1" }] }],
      ["/notifications", { items: [] }, { items: [] }],
    ] as const) {
      expect(await get(platform, `${path}?bot=@Other`), path).toMatchObject(others);
      expect(await get(platform, path), path).toMatchObject(own);
      for (const [name, status, message] of [
        ["nobody", 404, "bot: nobody; create it"],
        ["ada", 400, "bot: ada is a user, not a bot"],
      ] as const) {
        const answer = await request(platform, "GET", `/control/v1${path}?bot=${name}`);
        expect(answer.status, path).toBe(status);
        expect(answer.body.error.message).toContain(message);
      }
    }
  });
});

describe("a token", () => {
  test("is listed by its last four characters, and revoked by its id", async () => {
    const platform = await runPlatform();
    const { apiKey: token } = platform.control.createToken(["read"]);
    const { items } = await get<{ items: TokenView[] }>(platform, "/tokens");
    expect(items).toEqual([
      {
        id: "t_1",
        lastFour: platform.apiKey.slice(-4),
        scopes: ["read", "posts:write", "comments:write", "dm"],
        standard: true,
      },
      { id: "t_2", lastFour: token.slice(-4), scopes: ["read"], standard: false },
    ]);
    expect((await request(platform, "GET", "/api/v1/me", { token })).status).toBe(200);
    const revoke = () => request(platform, "DELETE", "/control/v1/tokens/t_2");
    expect(await revoke()).toMatchObject({ status: 200, body: { id: "t_2" } });
    expect((await request(platform, "GET", "/api/v1/me", { token })).status).toBe(401);
    expect((await request(platform, "GET", "/api/v1/me")).status).toBe(200);
    expect((await revoke()).status).toBe(404);
    const { entries } = await get<{ entries: { kind: string; change?: string }[] }>(
      platform,
      "/timeline",
    );
    const changes = entries.filter(({ kind }) => kind === "app").map(({ change }) => change);
    expect(changes).toEqual(["token created", "token revoked"]);
  });

  test("that was created last becomes the standard token once the previous standard token is revoked", async () => {
    const platform = await runPlatform();
    const standard = platform.apiKey;
    const { apiKey } = platform.control.createToken(["read"]);
    expect(platform.apiKey).toBe(standard);
    platform.control.apps.revokeToken("t_1");
    expect(platform.apiKey).toBe(apiKey);
    platform.control.apps.revokeToken("t_2");
    expect(platform.apiKey).toBe("");
  });

  test("from the platform's first start is replaced on the next start once it is revoked", async () => {
    const stateFile = join(temporaryFolder(), "state.db");
    const first = await runPlatform({ stateFile });
    const { apiKey } = first;
    first.control.apps.revokeToken("t_1");
    expect((await request(first, "GET", "/api/v1/me")).status).toBe(401);
    await first.stop();
    const second = await runPlatform({ stateFile });
    expect(second.apiKey).not.toBe(apiKey);
    expect((await request(second, "GET", "/api/v1/me")).status).toBe(200);
  });
});

describe("the kill switch", () => {
  const me = (platform: Platform, token = platform.apiKey) =>
    request(platform, "GET", "/api/v1/me", { token });

  test("rejects every call by the app, and by no other app", async () => {
    const platform = await runPlatform();
    const { apiKey } = platform.control.apps.create({ username: "other" });
    const thrown = await put(platform, "/apps/bot", { disabled: true });
    expect(thrown).toMatchObject({
      status: 200,
      body: { bot: { username: "bot" }, disabled: true },
    });
    for (const [method, path] of [
      ["GET", "/me"],
      ["GET", "/events"],
      ["POST", "/posts"],
      ["POST", "/uploads"],
      ["GET", "/nothing"],
    ] as const) {
      const body = method === "POST" ? { text: "hi" } : undefined;
      const answer = await request(platform, method, `/api/v1${path}`, { body });
      expect(answer.status, path).toBe(403);
      expect(answer.body.error.code).toBe("APP_DISABLED");
    }
    expect((await me(platform, apiKey)).status).toBe(200);
    await put(platform, "/apps/bot", { disabled: false });
    expect((await me(platform)).status).toBe(200);
    const changes = await get<{ entries: { kind: string; change?: string }[] }>(
      platform,
      "/timeline",
    );
    expect(changes.entries.flatMap(({ kind, change }) => (kind === "app" ? [change] : []))).toEqual(
      ["created", "disabled", "enabled"],
    );
  });

  test("comes before the rate limit, and does not reveal whether a token is valid", async () => {
    const platform = await runPlatform();
    platform.control.setLimits({ requestsPerMinute: 0 });
    platform.control.apps.set("bot", { disabled: true });
    expect((await me(platform)).status).toBe(403);
    expect((await me(platform, "sbk_wrong")).status).toBe(401);
    expect(platform.control.limits.requestsPerMinute.used).toBe(0);
  });

  test("rejects an upload whose download was in progress", async () => {
    const { platform, upload, asked, go } = await startWithHeldDownloads();
    const first = upload();
    await asked;
    platform.control.apps.set("bot", { disabled: true });
    go();
    expect(await first).toMatchObject({ status: 403, body: { error: { code: "APP_DISABLED" } } });
    expect(platform.control.limits.uploadsPerDay.used).toBe(0);
    platform.control.apps.set("bot", { disabled: false });
    expect((await upload()).status).toBe(200);
  });

  test("stops the webhook; later events are only in the log", async () => {
    const clock = new ManualClock();
    const platform = await runPlatform({ clock });
    const receiver = await runReceiver((response, nth) =>
      response.writeHead(nth === 1 ? 500 : 200).end(),
    );
    platform.control.saveWebhook({ url: receiver.url });
    const [pending = ""] = ids(act(platform, "follow"));
    await deliveryOf(platform, pending);
    platform.control.apps.set("bot", { disabled: true });
    const [meanwhile = ""] = ids(act(platform, "like"));
    clock.advance(30_000);
    await expect(platform.control.deliver({ eventIds: [pending] })).rejects.toMatchObject({
      status: 409,
      code: "APP_DISABLED",
    });
    platform.control.apps.set("bot", { disabled: false });
    const [later = ""] = ids(act(platform, "repost"));
    await deliveryOf(platform, later, { attempt: 2 });
    expect(receiver.batches()).toEqual([[pending], [later]]);
    const log = platform.control.events().map(({ id }) => id);
    expect(log).toEqual([pending, meanwhile, later]);
  });

  test("has no further effect the second time", async () => {
    const platform = await runPlatform();
    platform.control.apps.set("bot", { disabled: true });
    const { timelineSeq } = platform.control.state();
    expect(platform.control.apps.set("bot", { disabled: true }).disabled).toBe(true);
    expect(platform.control.state().timelineSeq).toBe(timelineSeq);
  });
});

test("notifications are kept until the end of days", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const first = await runPlatform({ stateFile, disableAfter: 1, clock: new ManualClock(0) });
  const receiver = await runReceiver((response) => response.writeHead(503).end());
  first.control.saveWebhook({ url: receiver.url });
  act(first, "follow");
  const { reason } = await first.waitFor("webhook", ({ change }) => change === "disabled");
  const items = [
    { id: "n_1", at: "1970-01-01T00:00:00.000Z", type: "webhook.disabled", message: reason },
  ];
  expect(await get(first, "/notifications")).toEqual({ items });
  await first.stop();
  const second = await runPlatform({ stateFile });
  expect(second.control.notifications()).toEqual(items);
});
