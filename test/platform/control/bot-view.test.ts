import { createServer, type RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import type { BotView } from "../../faces/platform.ts";
import { askBot } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { runBot, runPlatform } from "../../support/running-bot.ts";
import { request } from "../support/platform.ts";

async function viewOf(listener: RequestListener): Promise<{ view: BotView; url: string }> {
  const platform = await runPlatform();
  const { url } = await listenUntilEnd(createServer(listener));
  platform.control.saveWebhook({ url: `${url}/hooks/mine?x=1` });
  return { view: await platform.control.botView(), url };
}

test("a running bot serves its status at its webhook's origin", async () => {
  const platform = await runPlatform();
  const { bot } = await runBot(platform, () => undefined);
  const { status, body } = await request<BotView>(platform, "GET", "/control/v1/bot");
  expect(status).toBe(200);
  expect(body).toEqual({ url: bot.url, status: expect.objectContaining({ ready: true }) });
});

test("a bot that is not ready reports its status as well", async () => {
  const { view, url } = await viewOf((_, response) =>
    response.writeHead(503).end('{"ready":false}'),
  );
  expect(view).toEqual({ url, status: { ready: false } });
});

test("without a webhook the bot's URL is unknown", async () => {
  const platform = await runPlatform();
  const { body } = await request<BotView>(platform, "GET", "/control/v1/bot");
  expect(body).toMatchObject({ url: null, status: null });
  expect(body.error).toContain("save its webhook");
});

test("the request goes to the bot's origin, without the path and the query of the webhook", async () => {
  const asked: (string | undefined)[] = [];
  await viewOf((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    response.end('{"ready":true}');
  });
  expect(asked).toEqual(["GET /readyz?verbose"]);
});

test.each<[string, RequestListener]>([
  ["404", (_, response) => response.writeHead(404).end("{}")],
  ["a page", (_, response) => response.end("<html>")],
  ["JSON of another kind", (_, response) => response.end('["ready"]')],
  [
    "a redirect",
    (_, response) => response.writeHead(302, { location: "/x" }).end('{"ready":true}'),
  ],
  ["too much", (_, response) => response.end(`{"ready":true,"x":"${"x".repeat(1_100_000)}"}`)],
])("%s is not a bot's status, and the error says what to check", async (_, listener) => {
  const { view, url } = await viewOf(listener);
  expect(view).toMatchObject({ url, status: null });
  expect(view.error).toContain("Is another program listening there");
});

test("if the connection fails, the error suggests that the bot is not running", async () => {
  const platform = await runPlatform();
  const server = createServer();
  const { url } = await listenUntilEnd(server);
  server.close();
  platform.control.saveWebhook({ url: `${url}/webhook` });
  const view = await platform.control.botView();
  expect(view).toMatchObject({ url, status: null });
  expect(view.error).toContain("is the bot running?");
});

test("a silent bot times out soon, and does not delay the platform's stop", async () => {
  const platform = await runPlatform();
  const { url } = await listenUntilEnd(createServer(() => undefined));
  const { signal } = new AbortController();
  const view = await askBot({ address: url, apiKeys: [], signal, timeoutMs: 50 });
  expect(view).toMatchObject({ url, status: null });
  expect(view.error).toContain("did not respond within 50 ms");
  platform.control.saveWebhook({ url });
  const asking = platform.control.botView();
  await platform.stop();
  expect(await asking).toMatchObject({ url, status: null });
});

test("?bot= selects another app's bot", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "helper" });
  const { url } = await listenUntilEnd(
    createServer((_, response) => response.end('{"ready":true}')),
  );
  platform.control.saveWebhook({ url }, "helper");
  expect(await platform.control.botView("helper")).toEqual({ url, status: { ready: true } });
  expect((await request(platform, "GET", "/control/v1/bot?bot=nobody")).status).toBe(404);
});

test("a bot that requires a token gets its app's tokens, one after another", async () => {
  const platform = await runPlatform();
  const { apiKey } = platform.control.createToken(["read"]);
  const asked: (string | undefined)[] = [];
  const { url } = await listenUntilEnd(
    createServer((incoming, response) => {
      asked.push(incoming.headers.authorization);
      const known = incoming.headers.authorization === `Bearer ${apiKey}`;
      response.end(known ? '{"ready":true}' : '{"status":"ready","verbose":"Send the token."}');
    }),
  );
  platform.control.saveWebhook({ url: `${url}/webhook` });
  expect(await platform.control.botView()).toEqual({ url, status: { ready: true } });
  expect(asked).toEqual([`Bearer ${platform.apiKey}`, `Bearer ${apiKey}`]);
});

test("a bot that rejects all tokens gets no further request, and the error says why", async () => {
  const { view, url } = await viewOf((_, response) => response.end('{"verbose":"Send it."}'));
  expect(view).toEqual({ url, status: null, error: expect.stringContaining("SERVICE_API_KEY") });
});

test("tokens are sent only to a bot on this machine", async () => {
  const asked: Headers[] = [];
  const original = globalThis.fetch;
  onTestFinished(() => {
    globalThis.fetch = original;
  });
  globalThis.fetch = async (_url, init) => {
    asked.push(new Headers(init?.headers));
    return Response.json({ status: "ready", verbose: "Send the token." });
  };
  const signal = new AbortController().signal;
  const address = "https://bot.example.org/webhook";
  const view = await askBot({ address, apiKeys: ["key_of_the_app"], signal });
  expect(view.status).toBeNull();
  expect(asked.map((headers) => headers.get("authorization"))).toEqual([null]);
});
