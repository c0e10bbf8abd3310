import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bot } from "../../src/index.ts";
import { serveMetrics } from "../faces/observe.ts";
import { API_KEY, dm, SECRET, scrape, scrapeText, value, World } from "./world.ts";

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function serve(host = "127.0.0.1") {
  const listening = await serveMetrics({ text: async () => "x 1\n" }, host, 0);
  onTestFinished(() => listening.close());
  return listening;
}

async function statusFor(url: string, host: string): Promise<number | undefined> {
  const asked = request(url, { headers: { host } }).end();
  const [answer] = await once(asked, "response");
  answer.resume();
  return answer.statusCode;
}

describe("the port of the metrics", () => {
  test("answers /metrics alone, to those who read", async () => {
    const { url } = await serve();
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await answer.text()).toBe("x 1\n");
    const head = await fetch(`${url}/metrics?x`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fetch(`${url}/webhook`)).status).toBe(404);
    expect((await fetch(url)).status).toBe(404);
    const post = await fetch(`${url}/metrics`, { method: "POST" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("on loopback, a web page from another host name cannot read it", async () => {
    const { url } = await serve();
    expect(await statusFor(`${url}/metrics`, "evil.example")).toBe(403);
    expect(await statusFor(`${url}/metrics`, "localhost:9464")).toBe(200);
  });

  test("on a public address any name is allowed, because Prometheus may use its own", async () => {
    const { url } = await serve("0.0.0.0");
    const here = url.replace("0.0.0.0", "127.0.0.1");
    expect(await statusFor(`${here}/metrics`, "bot:9464")).toBe(200);
  });

  test.each(["[fe80::1%eth0]:9464", "bot-1.svc:99999", "a%zz", "u:p@bot", ""])(
    "on an address for others the host %j does as well",
    async (host) => {
      const { url } = await serve("0.0.0.0");
      const here = url.replace("0.0.0.0", "127.0.0.1");
      expect(await statusFor(`${here}/metrics`, host)).toBe(200);
    },
  );

  test("TRACE is refused like any other method", async () => {
    const { url } = await serve();
    const asked = request(`${url}/metrics`, { method: "TRACE" }).end();
    const [answer] = await once(asked, "response");
    answer.resume();
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  test("a body in tiny pieces closes its connection while the metrics are collected", async () => {
    const asked = Promise.withResolvers<void>();
    const collected = Promise.withResolvers<string>();
    const text = () => {
      asked.resolve();
      return collected.promise;
    };
    const listening = await serveMetrics({ text }, "127.0.0.1", 0);
    onTestFinished(async () => {
      collected.resolve("x 1\n");
      await listening.close();
    });
    const headers = { "transfer-encoding": "chunked" };
    const asking = request(`${listening.url}/metrics`, { headers });
    const gone = new Promise((resolve) => asking.once("error", resolve));
    asking.flushHeaders();
    await asked.promise;
    asking.socket?.write("1\r\nx\r\n".repeat(100_000));
    await gone;
    // This timeout is shorter than the server's request timeout, which would also close the connection.
  }, 10_000);

  test("an answer that fails is 500, without a reason", async () => {
    const failing = { text: () => Promise.reject(new Error("whsec_secret")) };
    const listening = await serveMetrics(failing, "127.0.0.1", 0);
    onTestFinished(() => listening.close());
    const answer = await fetch(`${listening.url}/metrics`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("secret");
  });
});

describe("a bot", () => {
  const options = {
    env: {},
    baseUrl: "http://platform.test",
    apiKey: API_KEY,
    webhookSecret: SECRET,
    databaseUrl: "file::memory:",
    delivery: "webhook",
    port: 0,
    logLevel: "silent",
  } as const;

  test("has no metrics by default", async () => {
    const bot = new Bot(options);
    await bot.start({ standalone: false });
    onTestFinished(() => bot.stop());
    expect(bot.metricsUrl).toBeUndefined();
    expect((await fetch(`${bot.url}/metrics`)).status).toBe(404);
  });

  test("does not start if the port is taken, and names the variable", async () => {
    const metricsPort = await takenPort();
    const bot = new Bot({ ...options, metricsPort });
    await expect(bot.start({ standalone: false })).rejects.toMatchObject({
      code: "ADDRESS_IN_USE",
      message: expect.stringContaining("set METRICS_PORT to another port"),
    });
  });

  test("that cannot listen on PORT gives the port of its metrics back", async () => {
    const free = await serve();
    const metricsPort = Number(new URL(free.url).port);
    await free.close();
    const bot = new Bot({ ...options, metricsPort, port: await takenPort() });
    await expect(bot.start({ standalone: false })).rejects.toMatchObject({
      message: expect.stringContaining("set PORT to another port"),
    });
    expect(bot.metricsUrl).toBeUndefined();
    const again = await serveMetrics({ text: async () => "" }, "127.0.0.1", metricsPort);
    await again.close();
  });

  test("serves its metrics while handlers finish, and no longer than it runs", async () => {
    const world = new World();
    const finish = Promise.withResolvers<void>();
    const bot = await world.start({}, (one) => one.on("dm.message", () => finish.promise));
    await world.deliver(bot, [dm("1")]);
    const url = bot.metricsUrl ?? "";
    expect(await value(bot, "service_bot_ready")).toBe(1);
    const stopped = bot.stop();
    await world.clock.advance(1_000);
    expect(await value(bot, "service_bot_ready")).toBe(0);
    expect(await value(bot, "service_bot_handlers_running")).toBe(1);
    finish.resolve();
    await stopped;
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("has its own counters, even if two bots share a process", async () => {
    const world = new World();
    const [one, other] = [await world.start(), await world.start()];
    await world.deliver(one, [dm("1")]);
    const taken = { status: "200", code: "OK" };
    expect(await value(one, "service_bot_deliveries_total", taken)).toBe(1);
    expect(await value(other, "service_bot_deliveries_total", taken)).toBe(0);
  });

  test("contains no secret and no message", async () => {
    const world = new World();
    const bot = await world.start({}, (one) =>
      one.on("dm.message", () => Promise.reject(new Error("canary-of-an-error"))),
    );
    await world.deliver(bot, [dm("1", { payload: { ...payload, excerpt: "canary-of-a-text" } })]);
    await world.deliver(bot, [dm("2", { type: "canary-of-a-type" })]);
    await bot.idle();
    const text = await scrapeText(bot);
    expect(text).not.toMatch(/canary|ada|Ada/);
    for (const secret of [API_KEY, SECRET]) expect(text).not.toContain(secret);
    expect((await scrape(bot)).size).toBeGreaterThan(40);
  });
});

const from = { userId: "u", username: "ada", name: "Ada" };
const payload = { conversationId: "c1", from };
