import { execFile } from "node:child_process";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { DeliveryCommand, DeliveryRecord, Platform } from "../../../src/platform/index.ts";
import { verify } from "../../faces/signature.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { ManualClock } from "../support/clock.ts";
import { act, ids, request, runPlatform } from "../support/platform.ts";

const run = promisify(execFile);

interface Arrived {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** A platform whose webhook takes any bytes. */
async function withReceiver(): Promise<{ platform: Platform; arrived: Arrived[] }> {
  const platform = await runPlatform();
  const arrived: Arrived[] = [];
  const { url } = await listenUntilEnd(
    createServer(async (incoming, response) => {
      arrived.push({ body: await buffer(incoming), headers: incoming.headers });
      response.end();
    }),
  );
  platform.control.saveWebhook({ url: `${url}/hook?a=[1-9]` });
  return { platform, arrived };
}

function expectSigned({ body, headers }: Arrived, platform: Platform): void {
  const secrets = [platform.webhookSecret];
  const verdict = verify(body, headers["x-service-signature"], { secrets, now: Date.now() });
  expect(verdict.ok).toBe(true);
}

const EDITED = '{ "events": [{"id":"evt_mine","type":"like"}, {"id":7}, null, {"id":"no id"}] }\n';

const BODIES: readonly [string, string][] = [
  ["edited JSON", EDITED],
  ["nothing", ""],
  ["no JSON", "not json"],
  ["what looks like a file", "@/etc/passwd"],
  ["quotes", `it's "$HOME" \`id\` $(id) \\ ! %s %b ''`],
  ["line ends and controls", 'a\r\n\t"\u0000\u001b[31m\u0003\u007f\u0085\u2028\\n\\0101'],
  ["any script", "héllo 日本 👩‍🚀 \ufeff"],
  ["a long text", `{"x":"${"é'".repeat(300_000)}"}`],
];

describe.each(BODIES)("a body of somebody's own: %s", (_, text) => {
  test("is sent byte by byte, and signed", async () => {
    const { platform, arrived } = await withReceiver();
    const { status } = await request(platform, "POST", "/control/v1/deliveries", {
      body: { body: text, times: 2 },
    });
    expect(status).toBe(200);
    expect(arrived.map(({ body }) => body.toString())).toEqual([text, text]);
    for (const one of arrived) expectSigned(one, platform);
  });

  test("arrives with the same bytes from the shell line", async () => {
    const { platform, arrived } = await withReceiver();
    const { status, body } = await request<DeliveryCommand>(
      platform,
      "POST",
      "/control/v1/deliveries/curl",
      { body: { body: text } },
    );
    expect(status).toBe(200);
    expect(body.command).not.toContain(platform.webhookSecret);
    // No terminal takes a part of it for a key.
    expect(body.command).not.toMatch(/\p{Cc}/u);
    // Through standard input, as a terminal gives it: a word of a command may not be that long.
    const child = run("sh", [], { env: { PATH: process.env.PATH ?? "" } });
    child.child.stdin?.end(body.command);
    expect((await child).stdout).toContain("200");
    expect(arrived.map((one) => one.body.toString())).toEqual([text]);
    for (const one of arrived) expectSigned(one, platform);
  });
});

test("the record of an edited body names the events in it, and the header counts them all", async () => {
  const { platform, arrived } = await withReceiver();
  const [{ id = "" } = {}] = await platform.control.deliver({ body: EDITED });
  const record: DeliveryRecord = await platform.control.delivery(id);
  expect(record).toMatchObject({ eventIds: ["evt_mine"], forced: true, status: 200 });
  expect(record.request?.body).toBe(EDITED);
  expect(arrived[0]?.headers["x-service-event-count"]).toBe("4");
});

test("a shell line of events holds the batch, and says until when it is good", async () => {
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
    [{}, 400, "either eventIds or body"],
    [{ eventIds: ["evt_000000000001"], body: "x" }, 400, "either eventIds or body"],
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

  test("takes a body of 1 MB, however it is escaped", async () => {
    const { platform } = await withReceiver();
    const body = { body: "\u0001".repeat(1024 * 1024) };
    expect((await request(platform, "POST", path, { body })).status).toBe(200);
  });

  test("says that the webhook is off", async () => {
    const platform = await runPlatform();
    const { status, body } = await request(platform, "POST", path, { body: { body: "x" } });
    expect(status).toBe(409);
    expect(body.error.code).toBe("WEBHOOK_OFF");
  });
});
