import { expect, test } from "vitest";
import { createLogger } from "../../faces/core.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver } from "../support/receiver.ts";

test("a snapshot restores every app, with its token, its log and its webhook", async () => {
  const platform = await runPlatform();
  const { control } = platform;
  const { apiKey: token } = control.apps.create({ username: "other" });
  const receiver = await runReceiver();
  control.saveWebhook({ url: receiver.url }, "other");
  const [first = ""] = ids(act(platform, "follow", { to: "other" }));
  await deliveryOf(platform, first);
  const before = control.apps.list();
  const { id } = control.snapshots.take();
  const me = async () => (await request(platform, "GET", "/api/v1/me", { token })).status;
  control.reset();
  expect(control.apps.list().map(({ bot }) => bot.username)).toEqual(["bot"]);
  expect(await me()).toBe(401);
  control.snapshots.restore(id);
  expect(control.apps.list()).toEqual(before);
  expect(await me()).toBe(200);
  const [second = ""] = ids(act(platform, "follow", { to: "other" }));
  await deliveryOf(platform, second);
  expect(receiver.batches()).toEqual([[first], [second]]);
  expect(control.events(undefined, "other").map((event) => event.id)).toEqual([first, second]);
});

test("a delivery to an app removed by a reset leaves no trace in the state", async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ level: "warn", secrets: [], destination });
  const platform = await runPlatform({ logger });
  const { control } = platform;
  control.apps.create({ username: "other" });
  const asked = Promise.withResolvers<void>();
  const silent = await runReceiver(() => asked.resolve());
  control.saveWebhook({ url: silent.url }, "other");
  act(platform, "follow", { to: "other" });
  await asked.promise;
  control.reset();
  const cut = await platform.waitFor("delivery");
  expect(cut).toMatchObject({ bot: "other", status: null });
  // A new app that reuses the number gets an empty schedule.
  control.apps.create({ username: "newcomer" });
  const receiver = await runReceiver();
  control.saveWebhook({ url: receiver.url }, "newcomer");
  const [id = ""] = ids(act(platform, "follow", { to: "newcomer" }));
  expect(await deliveryOf(platform, id)).toMatchObject({ bot: "newcomer", status: 200 });
  expect(control.webhookOf("newcomer").consecutiveFailures).toBe(0);
  expect(lines).toEqual([]);
});
