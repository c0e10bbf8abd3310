import { expect, test } from "vitest";
import type { DeliveryRecord, DeliverySummary, Page } from "../../faces/platform.ts";
import { type DeliveryAttempt, DeliveryRecords, Timeline } from "../../faces/platform.ts";
import { verify } from "../../faces/signature.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver, runWithWebhook, statuses } from "../support/receiver.ts";

const MEGABYTE = 1024 * 1024;

test("a record contains the bytes sent and the response", async () => {
  const clock = new ManualClock(1_700_000_000_500);
  const platform = await runPlatform({ clock });
  const receiver = await runReceiver((response) =>
    response.writeHead(202, { "x-bot": "yes" }).end("took it, größe 1"),
  );
  platform.control.saveWebhook({ url: receiver.url });
  const all = ids(act(platform, "dm.message", { text: "grüße \ud800 🙂", count: 2 }));
  const { id } = await deliveryOf(platform, all[1] ?? "");
  const path = `/control/v1/deliveries/${id}`;
  const { status, body } = await request<DeliveryRecord>(platform, "GET", path);
  expect(status).toBe(200);
  const [received] = receiver.received;
  expect(body).toEqual({
    id: "dlv_1",
    bot: "bot",
    eventIds: all,
    attempt: 1,
    forced: false,
    at: "2023-11-14T22:13:20.500Z",
    ms: 0,
    status: 202,
    request: {
      url: receiver.url,
      headers: {
        host: new URL(receiver.url).host,
        "content-type": "application/json",
        "content-length": String(received?.body.byteLength),
        "user-agent": "Service-Webhook/1",
        "x-service-signature": received?.headers["x-service-signature"],
        "x-service-event-count": "2",
      },
      body: received?.body.toString(),
      truncated: false,
    },
    response: {
      status: 202,
      headers: expect.objectContaining({ "x-bot": "yes" }),
      body: "took it, größe 1",
      truncated: false,
    },
  });
  const signature = body.request?.headers["x-service-signature"];
  const secrets = [platform.webhookSecret];
  const verdict = verify(Buffer.from(body.request?.body ?? ""), signature, {
    secrets,
    now: clock.now(),
  });
  expect(verdict.ok).toBe(true);
});

test("every attempt has a record, and so does every forced delivery", async () => {
  const { clock, platform } = await runWithWebhook(statuses(500, 200, 404));
  const eventIds = ids(act(platform, "follow"));
  await deliveryOf(platform, eventIds[0] ?? "");
  clock.advance(30_000);
  await deliveryOf(platform, eventIds[0] ?? "", { attempt: 2 });
  const [forced] = await platform.control.deliver({ eventIds });
  expect(forced?.id).toBe("dlv_3");
  const path = "/control/v1/deliveries";
  const { body } = await request<Page<DeliverySummary>>(platform, "GET", path);
  expect(body.nextCursor).toBeNull();
  expect(body.items).toMatchObject([
    { id: "dlv_3", eventIds, attempt: 1, forced: true, status: 404, error: "responded with 404" },
    { id: "dlv_2", eventIds, attempt: 2, forced: false, status: 200 },
    { id: "dlv_1", eventIds, attempt: 1, forced: false, status: 500, error: "responded with 500" },
  ]);
  expect(Object.keys(body.items[1] ?? {})).not.toContain("request");
});

test("the list is paged, newest first, for one bot", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  platform.control.createToken(["read"], "other");
  platform.control.saveWebhook({ url: receiver.url });
  const eventIds = ids(act(platform, "follow"));
  await deliveryOf(platform, eventIds[0] ?? "");
  await platform.control.deliver({ eventIds, times: 4 });
  const read = async (query: string) => {
    const path = `/control/v1/deliveries${query}`;
    const { status, body } = await request<Page<DeliverySummary>>(platform, "GET", path);
    return status === 200 ? [body.items.map(({ id }) => id), body.nextCursor] : status;
  };
  expect(await read("?limit=2")).toEqual([["dlv_5", "dlv_4"], "dlv_4"]);
  expect(await read("?limit=3&cursor=dlv_4")).toEqual([["dlv_3", "dlv_2", "dlv_1"], null]);
  expect(await read("?bot=bot&limit=1")).toEqual([["dlv_5"], "dlv_5"]);
  expect(await read("?bot=other")).toEqual([[], null]);
  expect(await read("?bot=nobody")).toBe(404);
  expect(await read("?bot=ada")).toBe(400);
  expect(await read("?cursor=evt_1")).toBe(400);
  expect(await read("?limit=51")).toBe(400);
});

test("without a request or a response, that half of the record is null", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock });
  const receiver = await runReceiver((response, nth) => {
    if (nth === 1) response.socket?.destroy();
    else response.writeHead(200).end("lost");
  });
  platform.control.saveWebhook({ url: receiver.url });
  platform.control.setFaults({ webhook: { mode: "drop", times: 1 } });
  const [id = ""] = ids(act(platform, "follow"));
  const record = async (attempt: number) => {
    const { id: delivery } = await deliveryOf(platform, id, { attempt });
    return await platform.control.delivery(delivery);
  };
  expect(await record(1)).toMatchObject({ status: null, request: null, response: null });
  clock.advance(30_000);
  expect(await record(2)).toMatchObject({
    status: null,
    request: { url: receiver.url },
    response: null,
  });
  platform.control.setFaults({ webhook: { mode: "lose-answer", times: 1 } });
  clock.advance(30_000);
  // The schedule stores no response, but the record shows how the bot responded.
  expect(await record(3)).toMatchObject({
    status: null,
    fault: "lose-answer",
    response: { status: 200, body: "lost" },
  });
});

test("the status decides immediately; a record waits for the rest of the response", async () => {
  const platform = await runPlatform();
  const rest = Promise.withResolvers<() => void>();
  const receiver = await runReceiver((response) => {
    response.writeHead(200).write("first ");
    rest.resolve(() => response.end("second"));
  });
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  const delivery = await deliveryOf(platform, id);
  expect(delivery.status).toBe(200);
  const record = platform.control.delivery(delivery.id);
  const end = await rest.promise;
  end();
  expect((await record).response).toMatchObject({ body: "first second", truncated: false });
});

test("the first 64 KB of a response are kept, and the received part of a truncated one", async () => {
  // The clock is stopped, so no timeout can end the exchange.
  const platform = await runPlatform({ clock: new ManualClock() });
  const receiver = await runReceiver((response, nth) => {
    if (nth === 1) response.writeHead(200).write(`${"x".repeat(64 * 1024 - 1)}ü and more`);
    else
      response.writeHead(200, { "content-length": "10" }).write("half", () => response.destroy());
  });
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  const long = await platform.control.delivery((await deliveryOf(platform, id)).id);
  // The cut would split a character, so it removes the whole character.
  expect(long.response?.body).toBe("x".repeat(64 * 1024 - 1));
  expect(long.response?.truncated).toBe(true);
  const [forced] = await platform.control.deliver({ eventIds: [id] });
  const broken = await platform.control.delivery(forced?.id ?? "");
  expect(broken.response).toMatchObject({ status: 200, body: "half", truncated: true });
});

test("no record contains a secret", async () => {
  const { platform } = await runWithWebhook();
  const [id = ""] = ids(act(platform, "follow"));
  const { id: delivery } = await deliveryOf(platform, id);
  const text = JSON.stringify([
    platform.control.deliveries(),
    await platform.control.delivery(delivery),
  ]);
  expect(text).toContain(id);
  expect(text).not.toContain(platform.webhookSecret);
  expect(text).not.toContain(platform.apiKey);
});

function sentOf(bytes: number): DeliveryAttempt {
  const headers = { "content-length": String(bytes) };
  const request = { url: "http://127.0.0.1/", headers, body: Buffer.alloc(bytes, "x") };
  return { at: 0, eventIds: ["evt_000000000001"], status: 200, ms: 1, request };
}

test.each([
  ["1,000 records", 10, 1_000],
  ["16 MB", MEGABYTE, 15],
])("only the newest records are kept: %s", async (_, bytes, most) => {
  const records = new DeliveryRecords(new Timeline(new ManualClock()));
  const occasion = { bot: "bot", attempt: 1, forced: false };
  const added = Array.from({ length: most + 5 }, () => records.add(occasion, sentOf(bytes)));
  const kept = records.page("bot", { before: 2 ** 40, limit: 2_000 }).map(({ id }) => id);
  expect(kept).toEqual(added.slice(-most).reverse());
  expect(await records.find(added[0] ?? "")).toBeUndefined();
  expect((await records.find(added.at(-1) ?? ""))?.request?.body).toHaveLength(bytes);
});

test("responses count towards the 16 MB", async () => {
  const platform = await runPlatform();
  const answer = "x".repeat(64 * 1024);
  const receiver = await runReceiver((response) => response.writeHead(200).end(answer));
  const eventIds = ids(act(platform, "follow"));
  platform.control.saveWebhook({ url: receiver.url });
  for (let round = 0; round < 3; round += 1)
    await platform.control.deliver({ eventIds, times: 100 });
  const newest = await platform.control.delivery("dlv_300");
  expect(newest.response?.body).toBe(answer);
  await expect(platform.control.delivery("dlv_44")).rejects.toThrow("no such delivery");
  expect((await platform.control.delivery("dlv_80")).response?.body).toBe(answer);
});

test("long heads count towards the 16 MB", () => {
  const records = new DeliveryRecords(new Timeline(new ManualClock()));
  const headers = { "x-note": "x".repeat(512 * 1024) };
  const request = { url: "http://127.0.0.1/", headers, body: Buffer.alloc(0) };
  const occasion = { bot: "bot", attempt: 1, forced: false };
  for (let n = 0; n < 20; n += 1) records.add(occasion, { ...sentOf(0), request });
  expect(records.page("bot", { before: 2 ** 40, limit: 2_000 })).toHaveLength(15);
});

test("the first 1 MB of a request is kept", async () => {
  const records = new DeliveryRecords(new Timeline(new ManualClock()));
  const id = records.add({ bot: "bot", attempt: 1, forced: true }, sentOf(MEGABYTE + 1));
  const record = await records.find(id);
  expect(record?.request?.truncated).toBe(true);
  expect(record?.request?.body).toHaveLength(MEGABYTE);
});
