import { readFileSync } from "node:fs";
import { request } from "node:https";
import { describe, expect, test } from "vitest";
import { sign } from "../faces/signature.ts";
import { reservePort } from "../support/reserve-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { answersTo, BotProcess } from "../support/world/bot-process.ts";
import { PlatformProcess } from "../support/world/platform-process.ts";
import { caddy } from "./proxy/caddy.ts";
import { makeCertificates } from "./proxy/certificates.ts";
import { nginx } from "./proxy/nginx.ts";
import { type ProxyKind, startProxy, whyNoProxy } from "./proxy/proxy.ts";

/** The body limit of both the bot and the proxy, in bytes. */
const LIMIT = 16_777_216;

async function start(kind: ProxyKind) {
  const folder = temporaryFolder();
  const certificates = makeCertificates(folder);
  const trusted = certificates.authority.cert;
  const platform = await PlatformProcess.start({ trusted });
  const bot = await BotProcess.start(platform);
  const port = await reservePort();
  await startProxy(kind, { folder, certificates, port, bot: bot.url });
  const origin = `https://localhost:${port}`;
  await platform.deliverTo(origin);
  return { folder, trusted, platform, bot, origin };
}

function statusOf(
  url: string,
  ca: string,
  { body, headers = {} }: { body?: Buffer; headers?: Record<string, string> } = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { method, headers, ca: readFileSync(ca), agent: false });
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.end(body);
  });
}

function batchOf(bytes: number): Buffer {
  const events = Array.from({ length: 50 }, (_, n) => ({
    id: `evt_large_${bytes}_${n}`,
    type: "follow",
    payload: {
      actor: { username: "ada", name: "Ada 🙂" },
      entityType: "user",
      entityId: "u_1",
      more: "ü".repeat(10_000),
    },
    createdAt: new Date().toISOString(),
  }));
  const body = JSON.stringify({ events });
  // Whitespace between two tokens pads the body to the exact size.
  return Buffer.from(body.replace("[", `[${" ".repeat(bytes - Buffer.byteLength(body))}`));
}

describe.each([nginx, caddy])("behind $name with TLS", (kind) => {
  const reason = whyNoProxy(kind);
  if (reason !== undefined) process.stderr.write(`${reason}\n`);

  test.skipIf(reason !== undefined)("a message arrives by webhook and gets a reply", async () => {
    const { platform, bot, origin, trusted } = await start(kind);
    const text = "grüße 🙂 e\u0301 \u2028";
    const written = await platform.write("ada", text);
    // Caddy starts to listen before it has its certificate, so the first attempt may fail.
    expect(await platform.delivery(written, 200)).toMatchObject({ eventIds: [written.eventId] });
    await platform.answered(written);
    expect(await platform.answers()).toEqual(answersTo(text));
    expect(await bot.status()).toMatchObject({
      mode: "auditing",
      modeReason: "the bot has started",
      lastDeliveryAt: expect.any(String),
    });
    // Only the webhook's path is public.
    expect(await statusOf(`${origin}/readyz?verbose`, trusted)).toBe(404);
  });

  test.skipIf(reason !== undefined)(
    "a batch arrives with the signed bytes, up to 16 MiB",
    async () => {
      const { platform, origin, trusted } = await start(kind);
      const { events } = await platform.control.act({
        type: "dm.message",
        from: "ada",
        text: "🙂".repeat(200),
        count: 50,
      });
      const eventIds = events.map(({ id }) => id);
      const delivery = await platform.delivery({ eventId: eventIds.at(-1) ?? "" }, 200);
      expect(delivery).toMatchObject({ eventIds });

      const post = (body: Buffer) => {
        const headers = {
          "x-service-signature": sign(body, platform.webhookSecret, Date.now() / 1000),
        };
        return statusOf(`${origin}/webhook`, trusted, { body, headers });
      };
      expect(await post(batchOf(LIMIT))).toBe(200);
      expect(await post(batchOf(LIMIT + 1))).toBe(413);
    },
  );
});

const reason = whyNoProxy(nginx);

describe.skipIf(reason !== undefined)("the platform checks the certificate", () => {
  test.each([
    {
      fault: "is signed by an authority that it does not know",
      shown: "localhost",
      trusts: false,
      told: /^the certificate of localhost:\d+ is not trusted .* NODE_EXTRA_CA_CERTS=/,
    },
    {
      fault: "is for another name",
      shown: "elsewhere",
      trusts: true,
      told: /^the certificate of localhost:\d+ is for a different host name .*bot\.example\.org/,
    },
  ] as const)("and delivers nothing if it $fault", async ({ shown, trusts, told }) => {
    const folder = temporaryFolder();
    const certificates = makeCertificates(folder);
    const trusted = certificates.authority.cert;
    const platform = await PlatformProcess.start({ trusted: trusts ? trusted : undefined });
    const bot = await BotProcess.start(platform, { env: { DELIVERY: "webhook" } });
    const port = await reservePort();
    const served = { ...certificates, localhost: certificates[shown] };
    const options = { folder, port, bot: bot.url };
    const proxy = await startProxy(nginx, { ...options, certificates: served });
    const origin = `https://localhost:${port}`;
    await platform.deliverTo(origin);
    const written = await platform.write("ada", "nobody may read this");
    const { status, error } = await platform.delivery(written);
    expect({ status, error }).toEqual({ status: null, error: expect.stringMatching(told) });
    expect(await bot.status()).toMatchObject({ lastDeliveryAt: null });

    // Positive control: a platform that trusts the certificate succeeds, so the certificate was the only problem.
    await proxy.stop();
    await startProxy(nginx, { ...options, certificates });
    const other = await PlatformProcess.start({ trusted });
    await other.deliverTo(origin);
    const readable = await other.write("ada", "this may be read");
    expect(await other.delivery(readable)).toMatchObject({ status: 200 });
    expect(await bot.status()).toMatchObject({ lastDeliveryAt: expect.any(String) });
  });
});
