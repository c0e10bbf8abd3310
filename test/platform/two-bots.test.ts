import { expect, test } from "vitest";
import type { NewApp, Platform } from "../faces/platform.ts";
import { verify } from "../faces/signature.ts";
import { act, deliveryOf, ids, request, runPlatform } from "./support/platform.ts";
import { deliverNew, runReceiver } from "./support/receiver.ts";

async function runTwo(): Promise<{ platform: Platform; other: NewApp }> {
  const platform = await runPlatform();
  return {
    platform,
    other: platform.control.apps.create({ username: "other", name: "The Other" }),
  };
}

test("each webhook gets its own bot's events, signed with its own secret", async () => {
  const { platform, other } = await runTwo();
  const [one, two] = [await runReceiver(), await runReceiver()];
  platform.control.saveWebhook({ url: one.url });
  platform.control.saveWebhook({ url: two.url }, "other");
  const [mine = ""] = ids(act(platform, "follow"));
  const [others = ""] = ids(act(platform, "follow", { to: "other" }));
  expect(await deliveryOf(platform, mine)).toMatchObject({ bot: "bot" });
  expect(await deliveryOf(platform, others)).toMatchObject({ bot: "other" });
  expect(one.batches()).toEqual([[mine]]);
  expect(two.batches()).toEqual([[others]]);
  const signedBy = (secret: string) =>
    two.received.map(({ body, headers }) => {
      const header = String(headers["x-service-signature"]);
      return verify(body, header, { secrets: [secret], now: Date.now() }).ok;
    });
  expect(signedBy(other.webhookSecret)).toEqual([true]);
  expect(signedBy(platform.webhookSecret)).toEqual([false]);
});

test("an endpoint that does not respond delays no other app", async () => {
  const { platform } = await runTwo();
  const asked = Promise.withResolvers<void>();
  const silent = await runReceiver(() => asked.resolve());
  const fine = await runReceiver();
  platform.control.saveWebhook({ url: silent.url });
  platform.control.saveWebhook({ url: fine.url }, "other");
  act(platform, "follow", { count: 120 });
  await asked.promise;
  expect(await deliverNew(platform, "follow", { to: "other" })).toMatchObject({ status: 200 });
  expect(silent.received).toHaveLength(1);
});

test("failures count for their own webhook only", async () => {
  const platform = await runPlatform({ disableAfter: 1 });
  platform.control.apps.create({ username: "other" });
  const failing = await runReceiver((response) => response.writeHead(500).end());
  const fine = await runReceiver();
  platform.control.saveWebhook({ url: fine.url });
  platform.control.saveWebhook({ url: failing.url }, "other");
  act(platform, "follow", { to: "other" });
  const gone = await platform.waitFor("webhook", ({ change }) => change === "disabled");
  expect(gone.bot).toBe("other");
  expect(platform.control.webhookOf("other").enabled).toBe(false);
  expect(platform.control.webhook).toMatchObject({ enabled: true, consecutiveFailures: 0 });
  expect(platform.control.notifications("other")).toHaveLength(1);
  expect(platform.control.notifications()).toEqual([]);
});

test("events are delivered again only to their own bot", async () => {
  const { platform } = await runTwo();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  platform.control.saveWebhook({ url: receiver.url }, "other");
  const eventIds = ids(act(platform, "follow", { to: "other" }));
  await expect(platform.control.deliver({ eventIds })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await platform.control.deliver({ eventIds }, "other")).toMatchObject([{ status: 200 }]);
});

test("a message of either bot is from a bot for the control API, and from this bot for its writer alone", async () => {
  const { platform, other } = await runTwo();
  const { conversationId = "" } = act(platform, "dm.message", { from: "other", to: "bot" });
  const path = `/api/v1/dm/conversations/${conversationId}/messages`;
  await request(platform, "POST", path, { body: { text: "hello" }, token: platform.apiKey });
  const fromBot = (messages: readonly { fromBot: boolean }[]) => messages.map((m) => m.fromBot);
  const seenBy = async (token: string) => {
    const { items } = Object((await request(platform, "GET", path, { token })).body);
    return fromBot(items);
  };
  expect(await seenBy(platform.apiKey)).toEqual([true, false]);
  expect(await seenBy(other.apiKey)).toEqual([false, true]);
  expect(fromBot(platform.control.messages(conversationId))).toEqual([true, true]);
});
