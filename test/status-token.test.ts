import { describe, expect, onTestFinished, test } from "vitest";
import type { Bot } from "../src/index.ts";
import { access, examine, refusingPlatform } from "./cli/doctor/examine.ts";
import { serveMetrics } from "./faces/observe.ts";
import { API_KEY, dm, scrapeText, World } from "./metrics/world.ts";
import { runBot, runPlatform } from "./support/running-bot.ts";

const STATUS_TOKEN = "status-0123456789";

async function ask(bot: Bot, path: string, token: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  return await bot.handle(new Request(`http://bot.test${path}`, { headers }));
}

describe("the status token", () => {
  test("reads the status, as the API key still does, and nothing else does", async () => {
    const bot = await new World().start({ statusToken: STATUS_TOKEN });
    for (const token of [STATUS_TOKEN, API_KEY]) {
      expect(await (await ask(bot, "/readyz?verbose", token)).json()).toMatchObject({
        ready: true,
      });
    }
    for (const token of ["", "status-012345678", `${STATUS_TOKEN}9`, "STATUS-0123456789"]) {
      expect(await (await ask(bot, "/readyz?verbose", token)).json()).toEqual({
        status: "ready",
        verbose: expect.stringContaining("STATUS_TOKEN"),
      });
    }
  });

  test("gives no access to the inbox of a bot on a local platform", async () => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, () => undefined, { statusToken: STATUS_TOKEN });
    expect((await ask(bot, "/local/v1/states", STATUS_TOKEN)).status).toBe(404);
    expect((await ask(bot, "/local/v1/states", platform.apiKey)).status).toBe(200);
  });

  test("is required for the metrics, and the API key does not replace it", async () => {
    const bot = await new World().start({ statusToken: STATUS_TOKEN });
    const read = (authorization: string) =>
      fetch(bot.metricsUrl ?? "", { headers: { authorization } });
    expect(await (await read(`Bearer ${STATUS_TOKEN}`)).text()).toContain("service_bot_ready 1");
    for (const header of ["", `Bearer ${API_KEY}`, `Basic ${STATUS_TOKEN}`]) {
      const refused = await read(header);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toBe("Bearer");
      expect(await refused.text()).not.toContain("service_bot");
    }
    const open = await new World().start();
    expect(await scrapeText(open)).toContain("service_bot_ready 1");
  });

  test("protects the metrics on a public address too", async () => {
    const text = async () => "x 1\n";
    const listening = await serveMetrics({ text }, "0.0.0.0", 0, STATUS_TOKEN);
    onTestFinished(() => listening.close());
    const url = `${listening.url.replace("0.0.0.0", "127.0.0.1")}/metrics`;
    const authorization = `Bearer ${STATUS_TOKEN}`;
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
  });

  test("is redacted from the errors of handlers", async () => {
    const world = new World();
    const bot = await world.start({ statusToken: STATUS_TOKEN, maxAttempts: 1 }, (made) => {
      made.on("dm.message", () => {
        throw new Error(`sent ${STATUS_TOKEN}`);
      });
    });
    await world.deliver(bot, [dm("1")]);
    await bot.idle();
    expect((await bot.inbox.show("1")).error).toBe("Error: sent [redacted]");
  });
});

describe("the doctor", () => {
  test("reads the status with the status token, even if the bot runs with another API key", async () => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, () => undefined, { statusToken: STATUS_TOKEN });
    const env = {
      ...access(platform),
      PORT: new URL(bot.url ?? "").port,
      SERVICE_API_KEY: "sbk_0123456789another",
      STATUS_TOKEN,
    };
    const { findings } = await examine(env);
    expect(findings).toContainEqual(
      expect.objectContaining({
        area: "bot",
        what: expect.stringMatching(/uses another SERVICE_API_KEY .*…ther/),
        remedy: expect.stringContaining("Restart the bot"),
      }),
    );
  });

  test("notes metrics that other machines can read without a token", async () => {
    const open = { METRICS_PORT: "9464", METRICS_HOST: "0.0.0.0" };
    const platform = await refusingPlatform();
    const notes = async (env: Record<string, string>) => {
      const { findings } = await examine({ ...platform, ...env });
      return findings.filter(({ what }) => what.includes("METRICS_HOST is"));
    };
    expect(await notes(open)).toEqual([
      expect.objectContaining({ level: "note", remedy: expect.stringContaining("STATUS_TOKEN") }),
    ]);
    expect(await notes({ ...open, STATUS_TOKEN })).toEqual([]);
    expect(await notes({ ...open, METRICS_HOST: "localhost" })).toEqual([]);
  });
});
