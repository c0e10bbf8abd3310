import { expect, test } from "vitest";
import { verify } from "../../faces/signature.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver } from "../support/receiver.ts";

test("a new platform has no webhook", async () => {
  const platform = await runPlatform();
  expect(platform.webhookSecret).toMatch(/^whsec_[0-9a-f]{48}$/);
  expect(platform.control.webhook).toEqual({
    url: null,
    types: [],
    enabled: false,
    consecutiveFailures: 0,
    disabledReason: null,
    disableAfter: 20,
  });
});

test.each([
  "https://example.org/hook",
  "https://10.0.0.1/",
  "http://127.0.0.1:3000/webhook",
  "http://127.1:3000/",
  "http://localhost:3000/",
  "http://[::1]:3000/",
])("%s can be saved", async (url) => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "PUT", "/control/v1/webhook", { body: { url } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ url: new URL(url).href, enabled: true });
});

test.each([
  "http://example.org/",
  "http://127.0.0.1.example.org/",
  "http://localhost.example.org/",
  "http://10.0.0.1/",
  "ftp://127.0.0.1/",
  "https://user:pass@example.org/",
  "/webhook",
  "",
])("%j gets 400 VALIDATION", async (url) => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "PUT", "/control/v1/webhook", { body: { url } });
  expect(status).toBe(400);
  expect(body.error.code).toBe("VALIDATION");
  expect(platform.control.webhook.url).toBeNull();
});

test.each([
  { enabled: true },
  { types: ["dm.message", "A type"] },
  { secret: "sec_1" },
  { secret: "whsec_a,whsec_b" },
  { adress: "https://example.org/" },
])("the webhook %j gets 400 VALIDATION", async (body) => {
  const platform = await runPlatform();
  const answer = await request(platform, "PUT", "/control/v1/webhook", { body });
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("VALIDATION");
});

test("saving keeps the omitted settings, and enables the webhook by default", async () => {
  const platform = await runPlatform();
  const { control } = platform;
  const url = "https://example.org/";
  expect(control.saveWebhook({ types: ["follow"] })).toMatchObject({ url: null, enabled: false });
  expect(control.saveWebhook({ url, enabled: false })).toMatchObject({ url, enabled: false });
  expect(control.saveWebhook({ types: ["like", "like"] })).toMatchObject({
    url,
    types: ["like"],
    enabled: true,
  });
  expect(control.saveWebhook({ enabled: false })).toMatchObject({
    enabled: false,
    disabledReason: "turned off by its owner",
  });
});

test("each change is in the timeline", async () => {
  const platform = await runPlatform();
  platform.control.saveWebhook({ url: "https://example.org/" });
  platform.control.saveWebhook({ types: ["like"] });
  platform.control.saveWebhook({ enabled: false });
  platform.control.regenerateWebhookSecret();
  const { body } = await request<{ entries: unknown[] }>(platform, "GET", "/control/v1/timeline");
  expect(body.entries).toMatchObject([
    { kind: "webhook", change: "enabled" },
    { kind: "webhook", change: "saved" },
    { kind: "webhook", change: "disabled" },
    { kind: "webhook", change: "secret" },
  ]);
});

test("a regenerated secret signs from then on, and is shown once", async () => {
  const platform = await runPlatform();
  const before = platform.webhookSecret;
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const made = await request<{ secret: string }>(platform, "POST", "/control/v1/webhook/secret");
  expect(made.status).toBe(201);
  const { secret } = made.body;
  expect(secret).toMatch(/^whsec_[0-9a-f]{48}$/);
  expect(secret).not.toBe(before);
  expect(platform.webhookSecret).toBe(secret);
  const [id = ""] = ids(act(platform, "follow"));
  await deliveryOf(platform, id);
  const verdicts = [secret, before].map((one) =>
    receiver.received.map(({ body, headers }) => {
      const header = String(headers["x-service-signature"]);
      return verify(body, header, { secrets: [one], now: Date.now() }).ok;
    }),
  );
  expect(verdicts).toEqual([[true], [false]]);
  for (const path of ["/control/v1/state", "/control/v1/webhook", "/control/v1/timeline"]) {
    const { body } = await request(platform, "GET", path);
    expect(JSON.stringify(body)).not.toContain("whsec_");
  }
});

test("a secret can be chosen", async () => {
  const platform = await runPlatform();
  const url = "https://example.org/";
  await request(platform, "PUT", "/control/v1/webhook", { body: { url, secret: "whsec_mine" } });
  expect(platform.webhookSecret).toBe("whsec_mine");
});

test("pending events of unsubscribed types are dropped", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver((response) => response.writeHead(500).end());
  platform.control.saveWebhook({ url: receiver.url });
  const [like = ""] = ids(act(platform, "like"));
  await deliveryOf(platform, like);
  const [follow = ""] = ids(act(platform, "follow"));
  const fine = await runReceiver();
  platform.control.saveWebhook({ url: fine.url, types: ["follow"] });
  await platform.waitFor("delivery", ({ status }) => status === 200);
  expect(fine.batches()).toEqual([[follow]]);
});
