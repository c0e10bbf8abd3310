import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../../e2e/proxy/certificates.ts";
import { runBot, runPlatform } from "../../support/running-bot.ts";
import { isInstalled } from "../../support/server-path.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { access, examine, serve } from "./examine.ts";

/** The platform is away in these tests, and says so; the webhook is looked at all the same. */
const away = access({ url: "http://127.0.0.1:2" });

async function webhookWith(env: Record<string, string>, flags: readonly string[] = []) {
  const { findings } = await examine({ ...away, ...env }, { flags });
  return findings.filter(({ area }) => area === "webhook");
}

const answering = (status: number, body = "", headers: Record<string, string> = {}) =>
  serve((_request, response) => void response.writeHead(status, headers).end(body));

/** As a bot's receiver puts it. */
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
        what: `${href} answers, and refuses a forged request, of which the bot's log warns`,
      },
    ]);
    expect(handled).toEqual([]);
  });

  test("a bot that does not run is a note", async () => {
    expect(await webhookWith({ PORT: "2" })).toEqual([
      expect.objectContaining({
        level: "note",
        what: expect.stringMatching(/^nothing listens on 127\.0\.0\.1:2/),
        remedy: expect.stringContaining("npm start"),
      }),
    ]);
  });

  test.each([
    { status: 200, body: "{}", remedy: /anybody could send events/ },
    { status: 404, body: refusal("NOT_FOUND"), remedy: /WEBHOOK_PATH/ },
    { status: 401, body: "login please", remedy: /login/ },
    { status: 400, body: refusal("SIGNATURE_MISSING"), remedy: /X-Service-Signature/ },
    { status: 400, body: refusal("SIGNATURE_STALE"), remedy: /NTP/ },
    { status: 503, body: refusal("NOT_READY"), remedy: /not started/ },
    { status: 502, body: "Bad Gateway", remedy: /does not reach the bot/ },
    { status: 301, body: "", headers: { location: "/there" }, remedy: /follows no redirect/ },
    { status: 403, body: "", remedy: /in between/ },
  ])("$status $body fails, with its remedy", async ({ status, body, headers, remedy }) => {
    const { port } = new URL(await answering(status, body, headers));
    expect(await webhookWith({ PORT: port })).toEqual([
      expect.objectContaining({ level: "fail", remedy: expect.stringMatching(remedy) }),
    ]);
  });

  test("a bot that polls needs none", async () => {
    expect(await webhookWith({ DELIVERY: "polling" })).toEqual([
      { area: "webhook", level: "ok", what: "DELIVERY=polling: no webhook is needed" },
    ]);
  });
});

describe("at the address in the portal", () => {
  const quiet = { DELIVERY: "polling" };

  test("one that is not reached fails", async () => {
    const [found] = await webhookWith(quiet, ["--webhook", "https://127.0.0.1:2/webhook"]);
    expect(found).toMatchObject({ level: "fail", remedy: expect.stringContaining("certificate") });
  });

  test("one without https is told", async () => {
    const url = await answering(401, refusal("SIGNATURE_MISMATCH"));
    const [found] = await webhookWith(quiet, ["--webhook", url]);
    expect(found).toMatchObject({ level: "note", what: expect.stringContaining("is not https") });
  });

  test.skipIf(!isInstalled(["openssl", "version"]))("its certificate is checked", async () => {
    const { authority, localhost } = makeCertificates(temporaryFolder());
    const [cert, key] = [readFileSync(localhost.cert), readFileSync(localhost.key)];
    const server = createServer({ cert, key }, (_request, response) => {
      response.writeHead(401).end(refusal("SIGNATURE_MISMATCH"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = Object(server.address());
    const flags = ["--webhook", `https://localhost:${port}/webhook`];
    expect(await webhookWith(quiet, flags)).toMatchObject([
      { level: "fail", what: expect.stringContaining("is not trusted") },
      { level: "ok" },
    ]);
    const trusting = { ...quiet, NODE_EXTRA_CA_CERTS: authority.cert };
    expect(await webhookWith(trusting, flags)).toMatchObject([{ level: "ok" }, { level: "ok" }]);
  });
});
