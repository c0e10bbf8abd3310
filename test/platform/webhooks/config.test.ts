import { expect, test } from "vitest";
import { request, runPlatform } from "../support/platform.ts";

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

test("a regenerated secret, and one that was chosen, replace the platform's own", async () => {
  const platform = await runPlatform();
  const made = await request<{ secret: string }>(platform, "POST", "/control/v1/webhook/secret");
  expect(made.status).toBe(201);
  expect(made.body.secret).toMatch(/^whsec_[0-9a-f]{48}$/);
  expect(platform.webhookSecret).toBe(made.body.secret);
  const body = { url: "https://example.org/", secret: "whsec_mine" };
  await request(platform, "PUT", "/control/v1/webhook", { body });
  expect(platform.webhookSecret).toBe("whsec_mine");
});
