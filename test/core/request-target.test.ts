import { createServer } from "node:http";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { readTarget } from "../faces/core.ts";
import { serveMetrics } from "../faces/observe.ts";
import { toExpress, toNodeListener } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import { runPlatform, withControlToken } from "../platform/support/platform.ts";
import { batchOf, makeRig, now, secret } from "../receiver/support.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { describeTargets, type Served } from "../support/request-targets.ts";

test.each([
  ["/webhook", undefined, "/webhook", ""],
  ["/webhook?a=b?c", undefined, "/webhook", "a=b?c"],
  ["/webhook?", undefined, "/webhook", ""],
  ["//webhook", undefined, "//webhook", ""],
  ["/http://bot.test/", undefined, "/http://bot.test/", ""],
  ["/%77eb/../hook/", undefined, "/%77eb/../hook/", ""],
  ["http://bot.test/webhook?x", "bot.test", "/webhook", "x"],
  ["HTTPS://Bot.test:443/webhook", "Bot.test:443", "/webhook", ""],
  ["http://bot.test//webhook", "bot.test", "//webhook", ""],
  ["http://[::1]:80/", "[::1]:80", "/", ""],
  ["http://bot.test", "bot.test", "/", ""],
  ["http://bot.test?x=/y", "bot.test", "/", "x=/y"],
  ["*", undefined, "*", ""],
  ["ftp://bot.test/webhook", undefined, "ftp://bot.test/webhook", ""],
])("%s names the host %s, the path %s and the query %j", (target, authority, path, query) => {
  expect(readTarget(target)).toEqual({ authority, path, query });
});

const body = batchOf("1");
const delivery = {
  method: "POST",
  head: [
    `X-Service-Signature: ${sign(body, secret, now)}`,
    `Content-Length: ${body.length}`,
    "Content-Type: application/json",
  ],
  body,
  status: 200,
};

async function inExpress(mount: string, path: string): Promise<Served> {
  const { endpoints } = makeRig();
  const app = express().use(
    mount,
    toExpress(() => endpoints),
  );
  return { ...(await listenUntilEnd(createServer(app))), ...delivery, path };
}

async function platformAt(path: string): Promise<Served> {
  const platform = await runPlatform();
  const { "X-Control-Token": token } = withControlToken(platform);
  const head = [`X-Control-Token: ${token}`, `Authorization: Bearer ${platform.apiKey}`];
  return { url: platform.url, path, head, status: 200 };
}

const servers: readonly (readonly [string, () => Promise<Served>])[] = [
  [
    "the webhook",
    async () => {
      const { endpoints } = makeRig();
      const server = await listenUntilEnd(createServer(toNodeListener(endpoints)));
      return { ...server, ...delivery, path: "/webhook" };
    },
  ],
  [
    "the health check",
    async () => {
      const { endpoints } = makeRig();
      const server = await listenUntilEnd(createServer(toNodeListener(endpoints)));
      return { ...server, path: "/readyz", status: 200 };
    },
  ],
  ["the webhook in Express", () => inExpress("/", "/webhook")],
  ["the webhook in an Express application below a path", () => inExpress("/bots", "/bots/webhook")],
  [
    "the metrics",
    async () => {
      const { url, close } = await serveMetrics({ text: async () => "x 1\n" }, "127.0.0.1", 0);
      onTestFinished(() => close());
      return { url, path: "/metrics", status: 200 };
    },
  ],
  ["the local platform's API", () => platformAt("/api/v1/me")],
  ["the local platform's control API", () => platformAt("/control/v1/state")],
  [
    "the local platform's extension",
    async () => {
      const open = async () => ({ fetch: async () => new Response("x"), close: async () => {} });
      const { url } = await runPlatform({ extensions: [{ path: "/more", open }] });
      return { url, path: "/more", status: 200 };
    },
  ],
];

for (const [name, serve] of servers) describeTargets(name, serve);
