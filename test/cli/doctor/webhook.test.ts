import { describe, expect, test } from "vitest";
import { runBot, runPlatform } from "../../support/running-bot.ts";
import { examine, refusingPlatform, serve } from "./examine.ts";

async function webhookWith(env: Record<string, string>, flags: readonly string[] = []) {
  const { findings } = await examine({ ...(await refusingPlatform()), ...env }, { flags });
  return findings.filter(({ area }) => area === "webhook");
}

const answering = (status: number, body = "", headers: Record<string, string> = {}) =>
  serve((_request, response) => void response.writeHead(status, headers).end(body));

const refusal = (code: string) => JSON.stringify({ error: { code, message: "No." } });

describe("on this machine", () => {
  test("a bot that refuses a forged request is well, and handles nothing", async () => {
    const platform = await runPlatform();
    const handled: string[] = [];
    const { bot } = await runBot(
      platform,
      (made) => void made.on("follow", () => void handled.push("")),
    );
    const { port, href } = new URL("/webhook", bot.url);
    expect(await webhookWith({ PORT: port })).toEqual([
      {
        area: "webhook",
        level: "ok",
        what: expect.stringContaining(`${href} rejected a forged request`),
      },
    ]);
    expect(handled).toEqual([]);
  });

  test("a bot that does not run is a note", async () => {
    expect(await webhookWith({ PORT: "2" })).toEqual([
      expect.objectContaining({
        level: "note",
        what: expect.stringMatching(/^nothing is listening on 127\.0\.0\.1:2/),
        remedy: expect.stringContaining("npm start"),
      }),
    ]);
  });

  test.each([
    { status: 200, body: "{}", remedy: /Another program serves/ },
    { status: 404, body: refusal("NOT_FOUND"), remedy: /WEBHOOK_PATH/ },
    { status: 401, body: "login please", remedy: /login/ },
    { status: 400, body: refusal("SIGNATURE_MISSING"), remedy: /X-Service-Signature/ },
    { status: 400, body: refusal("SIGNATURE_STALE"), remedy: /NTP/ },
    { status: 503, body: refusal("NOT_READY"), remedy: /starting or stopping/ },
    { status: 502, body: "Bad Gateway", remedy: /cannot reach the bot/ },
    { status: 301, body: "", headers: { location: "/there" }, remedy: /does not follow redirects/ },
    { status: 403, body: "", remedy: /A proxy refuses/ },
  ])("$status $body fails, with its remedy", async ({ status, body, headers, remedy }) => {
    const { port } = new URL(await answering(status, body, headers));
    expect(await webhookWith({ PORT: port })).toEqual([
      expect.objectContaining({ level: "fail", remedy: expect.stringMatching(remedy) }),
    ]);
  });

  test("a bot that accepts an old request fails", async () => {
    const body = refusal("SIGNATURE_MISMATCH");
    const url = await serve((request, response) => {
      const [, t = ""] = /t=(\d+)/.exec(String(request.headers["x-service-signature"])) ?? [];
      const old = Number(t) < Date.now() / 1000 - 300;
      response.writeHead(old ? 200 : 401).end(body);
    });
    expect(await webhookWith({ PORT: new URL(url).port })).toEqual([
      expect.objectContaining({
        level: "fail",
        what: expect.stringContaining("200 for a request signed 10 min ago"),
      }),
    ]);
  });

  test("a bot that polls needs no webhook", async () => {
    expect(await webhookWith({ DELIVERY: "polling" })).toEqual([
      { area: "webhook", level: "ok", what: "DELIVERY=polling: no webhook is needed" },
    ]);
  });
});

describe("at the address in the portal", () => {
  const quiet = { DELIVERY: "polling" };

  test("an unreachable address fails", async () => {
    const [found] = await webhookWith(quiet, ["--webhook", "https://127.0.0.1:2/webhook"]);
    expect(found).toMatchObject({ level: "fail", remedy: expect.stringContaining("certificate") });
  });

  test("an address without https is reported", async () => {
    const url = await answering(401, refusal("SIGNATURE_MISMATCH"));
    const [found] = await webhookWith(quiet, ["--webhook", url]);
    expect(found).toMatchObject({ level: "note", what: expect.stringContaining("is not https") });
  });
});
