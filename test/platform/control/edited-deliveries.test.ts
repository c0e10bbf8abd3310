import { describe, expect, test } from "vitest";
import type { DeliveryRecord } from "../../faces/platform.ts";
import { ManualClock } from "../support/clock.ts";
import { act, ids, request, runPlatform } from "../support/platform.ts";
import { BODIES, EDITED, expectSigned, withReceiver } from "./edited.ts";

test.each(BODIES)("an edited body is sent unchanged, and signed: %s", async (_, text) => {
  const { platform, arrived } = await withReceiver();
  const { status } = await request(platform, "POST", "/control/v1/deliveries", {
    body: { body: text, times: 2 },
  });
  expect(status).toBe(200);
  expect(arrived.map(({ body }) => body.toString())).toEqual([text, text]);
  for (const one of arrived) expectSigned(one, platform);
});

test("the record of an edited body names the events in the body, and the header counts all of them", async () => {
  const { platform, arrived } = await withReceiver();
  const [{ id = "" } = {}] = await platform.control.deliver({ body: EDITED });
  const record: DeliveryRecord = await platform.control.delivery(id);
  expect(record).toMatchObject({ eventIds: ["evt_mine"], forced: true, status: 200 });
  expect(record.request?.body).toBe(EDITED);
  expect(arrived[0]?.headers["x-service-event-count"]).toBe("4");
});

test("a shell command for events contains the batch, and says when it expires", async () => {
  const clock = new ManualClock(Date.UTC(2030, 0, 1, 12, 0, 0, 900));
  const platform = await runPlatform({ clock });
  platform.control.saveWebhook({ url: "http://127.0.0.1:1/hook" });
  const eventIds = ids(act(platform, "like", { count: 2 })).reverse();
  const { command, expiresAt } = platform.control.deliveryCommand({ eventIds });
  expect(expiresAt).toBe("2030-01-01T12:05:00.000Z");
  expect(command).toContain("'x-service-event-count: 2'");
  expect(command.indexOf(eventIds[0] ?? "")).toBeLessThan(command.indexOf(eventIds[1] ?? ""));
  expect(platform.control.deliveries().items.filter(({ forced }) => forced)).toEqual([]);
});

describe.each(["/control/v1/deliveries", "/control/v1/deliveries/curl"])("POST %s", (path) => {
  test.each<[object, number, string]>([
    [{}, 400, "exactly one of eventIds and body"],
    [{ eventIds: ["evt_000000000001"], body: "x" }, 400, "exactly one of eventIds and body"],
    [{ body: 7 }, 400, "body"],
    [{ body: "\ud800" }, 400, "UTF-8"],
    [{ eventIds: [] }, 400, "1 to 50"],
    [{ eventIds: ["evt_000000000009"] }, 404, "evt_000000000009"],
    [{ body: "x", extra: 1 }, 400, "extra"],
    [{ body: "x".repeat(1024 * 1024 + 1) }, 413, "1048576 bytes"],
    [{ body: "é".repeat(600_000) }, 413, "1048576 bytes"],
    [{ body: "x".repeat(7 * 1024 * 1024) }, 413, "1048576 bytes"],
  ])("refuses %#", async (body, status, said) => {
    const { platform, arrived } = await withReceiver();
    const answer = await request(platform, "POST", path, { body });
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toContain(said);
    expect(arrived).toEqual([]);
  });

  test("accepts a body of 1 MB in any escaping", async () => {
    const { platform } = await withReceiver();
    const body = { body: "\u0001".repeat(1024 * 1024) };
    expect((await request(platform, "POST", path, { body })).status).toBe(200);
  });

  test("reports that the webhook is off", async () => {
    const platform = await runPlatform();
    const { status, body } = await request(platform, "POST", path, { body: { body: "x" } });
    expect(status).toBe(409);
    expect(body.error.code).toBe("WEBHOOK_OFF");
  });
});
