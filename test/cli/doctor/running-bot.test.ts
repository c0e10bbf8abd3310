import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { Bot } from "../../../src/index.ts";
import { aboutBot, isThisMachine } from "../../faces/cli.ts";
import { pageUrl } from "../../faces/core.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { logSink } from "../../support/log.ts";
import { botOptions, runBot, runPlatform } from "../../support/running-bot.ts";
import { access, examine, refusingPlatform, serve, trouble } from "./examine.ts";

const NOW = Date.parse("2026-11-20T16:00:00Z");

type Status = Readonly<Record<string, unknown>>;

const well: Status = {
  ready: true,
  mode: "auditing",
  modeSince: "2026-11-20T15:00:00.000Z",
  modeReason: "the webhook brings the events",
  log: { lastPollError: null, lagMs: 60_000 },
};

const findingsOf = (
  bot: Status,
  delivery: "auto" | "polling" = "auto",
  auditIntervalMs = 60_000,
) => {
  const intervals = { auditIntervalMs, pollIntervalMs: 4_000 };
  return aboutBot({ ...well, ...bot }, { delivery, ...intervals, ...credentials }, NOW) ?? [];
};

const credentials = {
  apiKey: "sbk_0123456789abcdef",
  webhookSecrets: ["whsec_0123456789abcnew", "whsec_0123456789abcold"],
};

test("a healthy bot is one line", () => {
  expect(findingsOf({})).toEqual([
    {
      area: "bot",
      level: "ok",
      what: expect.stringMatching(/auditing mode 1 h ago: the webhook brings the events$/),
    },
  ]);
});

test("a bot that polls for long is reported, unless polling is configured", () => {
  expect(findingsOf({ mode: "polling" })).toMatchObject([
    { level: "note", remedy: expect.stringContaining("--webhook") },
  ]);
  expect(findingsOf({ mode: "polling" }, "polling")).toMatchObject([{ level: "ok" }]);
  expect(findingsOf({ mode: "polling", modeSince: "2026-11-20T15:59:00.000Z" })).toMatchObject([
    { level: "ok" },
  ]);
});

test.each([
  [401, /SERVICE_API_KEY/],
  [403, /scope/],
  [429, /MAX_REQUESTS_PER_MINUTE/],
  [null, /retries/],
])("a log that could not be read (%s) is reported with its remedy", (status, remedy) => {
  const log = { lastPollError: { code: "API_ERROR", status }, lagMs: 1 };
  expect(findingsOf({ log }).slice(1)).toEqual([
    expect.objectContaining({
      level: "note",
      what: expect.stringContaining("API_ERROR"),
      remedy: expect.stringMatching(remedy),
    }),
  ]);
});

test("a bot that is not ready, or far behind in the log, is reported", () => {
  expect(findingsOf({ ready: false }).map(({ level }) => level)).toEqual(["note", "ok"]);
  expect(findingsOf({ log: { lagMs: 20 * 60_000 } })).toMatchObject([
    { level: "ok" },
    { level: "note", what: expect.stringContaining("20 min ago") },
  ]);
});

test("the limit of the lag depends on the interval of the mode", () => {
  const behind = (minutes: number, mode: string, auditIntervalMs: number) =>
    findingsOf({ mode, log: { lagMs: minutes * 60_000 } }, "polling", auditIntervalMs).length > 1;
  expect(behind(3, "auditing", 60_000)).toBe(false);
  expect(behind(5, "auditing", 60_000)).toBe(true);
  expect(behind(60, "auditing", 1_800_000)).toBe(false);
  expect(behind(92, "auditing", 1_800_000)).toBe(true);
  expect(behind(3, "polling", 1_800_000)).toBe(true);
});

const HALF_MINUTE_LATER = "2026-11-20T16:00:30Z";

test.each<[name: string, bot: Status, what: RegExp, remedy: RegExp]>([
  [
    "a rejected token",
    circuit({ of: "token", why: "token", status: 401, retryAt: HALF_MINUTE_LATER }),
    /rejects the running bot's token \(401\); next attempt in 30 s/,
    /SERVICE_API_KEY/,
  ],
  [
    "a disabled app",
    circuit({ of: "token", why: "token", status: 403 }),
    /rejects every request of the app \(403\)$/,
    /Enable the app/,
  ],
  [
    "a platform that does not respond",
    circuit({ of: "platform", why: "outages", code: "API_UNREACHABLE", status: null }),
    /sends no requests, because the last ones failed with API_UNREACHABLE$/,
    /platform responds/,
  ],
  [
    "an operation that fails",
    circuit({ of: "POST /posts", why: "outages", code: "API_ERROR", status: 503 }),
    /sends no POST \/posts requests, .* API_ERROR \(503\)/,
    /platform responds/,
  ],
  [
    "a quota that is used up",
    circuit({ of: "POST /posts", why: "quota", code: "QUOTA_EXCEEDED", status: 429 }),
    /POST \/posts .*quota is used up/,
    /next day/,
  ],
  [
    "a wrong clock",
    { platform: { circuits: [], clockSkewMs: -120_000 } },
    /clock is 120 s behind the platform's/,
    /NTP/,
  ],
  [
    "a store that fails",
    { store: { failure: { reason: "disk_full", since: "2026-11-20T15:57:00Z" } } },
    /cannot use its inbox \(disk_full, first 3 min ago\)/,
    /Free space/,
  ],
  [
    "an inbox whose file is lost",
    {
      inboxProblem: "data/bot.db was moved.",
      store: { failure: { reason: "file_lost", since: "2026-11-20T15:57:00Z" } },
    },
    /cannot use its inbox \(file_lost, first 3 min ago\), .*\. data\/bot\.db was moved\./,
    /Do not kill the bot\. .*backup\.html#a-lost-file/,
  ],
  [
    "a disk that is nearly full",
    { store: { disk: { isLow: true, freeBytes: 1_048_576, minFreeBytes: 67_108_864 } } },
    /refuses new events.* less than 64 MB: 1\.0 MB free/,
    /Free space/,
  ],
  [
    "deliveries that are refused",
    webhook({ refused: 3, lastRefusal: { code: "SIGNATURE_MISMATCH", status: 401 } }),
    /refused 3 deliveries .* SIGNATURE_MISMATCH \(401\)/,
    /SERVICE_WEBHOOK_SECRET/,
  ],
  [
    "a webhook that may be silent while the log is unreadable",
    webhook({ state: "unknown", reason: "no delivery has arrived since the log was unreadable" }),
    /webhook may be silent/,
    /doctor --webhook/,
  ],
  ["the loop guard", { loopGuard: { holding: 2 } }, /2 conversations or posts/, /inbox list/],
  [
    "a key that the bot has not read yet",
    used({ apiKeyEnd: "9999" }),
    /another SERVICE_API_KEY \(…9999\) than this configuration \(…cdef\)/,
    /Restart the bot/,
  ],
  [
    "a secret that the bot has not read yet",
    used({ webhookSecretEnds: ["cold"] }),
    /another SERVICE_WEBHOOK_SECRET \(…cold\) than .* \(…cnew, …cold\)/,
    /Restart the bot/,
  ],
])("%s is reported with its remedy", (_name, bot, what, remedy) => {
  expect(findingsOf(bot).slice(1)).toEqual([
    {
      area: "bot",
      level: expect.stringMatching(/^(?:note|warn)$/),
      what: expect.stringMatching(what),
      remedy: expect.stringMatching(remedy),
    },
  ]);
});

function circuit(open: object): Status {
  return { platform: { circuits: [open as never] } };
}

function webhook(state: object): Status {
  return { webhook: { state: "working", reason: "", refused: 0, ...state } };
}

function used(changed: object): Status {
  const same = { apiKeyEnd: "cdef", webhookSecretEnds: ["cnew", "cold"] };
  return { credentials: { ...same, ...changed } };
}

test("a bot without traffic, and one whose status has everything, is still one line", () => {
  const state = "unknown";
  for (const reason of ["no delivery has arrived yet", "DELIVERY=webhook does not compare"]) {
    expect(findingsOf(webhook({ state, reason }))).toHaveLength(1);
  }
  expect(findingsOf({ ...used({}), store: {}, platform: { circuits: [] } })).toHaveLength(1);
});

test("a restore is reported until the event log is read", () => {
  const at = "2026-11-20T15:30:00.000Z";
  expect(findingsOf({ restored: { at, readAt: null } })).toMatchObject([
    { level: "ok" },
    {
      level: "note",
      what: expect.stringMatching(/restored 30 min ago from a backup/),
      remedy: expect.stringContaining(pageUrl("operate/backup#uncertain-steps")),
    },
  ]);
  expect(findingsOf({ restored: { at, readAt: "2026-11-20T15:31:00.000Z" } })).toHaveLength(1);
  expect(findingsOf({ restored: null })).toHaveLength(1);
});

test("only a bot on this machine gets a request", async () => {
  const platform = await runPlatform();
  const { bot } = await runBot(platform, () => undefined);
  const { port } = new URL(bot.url ?? "");
  const { findings } = await examine({ ...access(platform), PORT: port });
  expect(findings.filter(({ area }) => area === "bot")).toEqual([
    expect.objectContaining({ level: "ok", what: expect.stringMatching(/ mode /) }),
  ]);
  const env = { ...access(platform), SERVICE_API_KEY: "sbk_of_another", PORT: port };
  expect(trouble(await examine(env), "bot")).toEqual([
    expect.objectContaining({ remedy: expect.stringContaining("SERVICE_API_KEY") }),
  ]);
  const other = await serve((_request, response) => void response.end('{"status":"up"}'));
  const asked = await examine({ ...access(platform), PORT: new URL(other).port });
  expect(asked.findings.filter(({ area }) => area === "bot")).toEqual([]);
});

test("a bot in an application is reported with or without its health checks", async () => {
  const platform = await runPlatform();
  const bot = new Bot({ ...botOptions(platform), logger: logSink().log });
  await bot.start({ listen: false });
  onTestFinished(() => bot.stop());
  const of = async (options: { health?: boolean }) => {
    const { url } = await listenUntilEnd(createServer(express().use(bot.middleware(options))));
    const { findings } = await examine({ ...access(platform), PORT: new URL(url).port });
    return findings.filter(({ area }) => area === "bot");
  };
  expect(await of({ health: true })).toMatchObject([{ level: "ok" }]);
  expect(await of({})).toMatchObject([
    { level: "note", remedy: expect.stringContaining("bot.middleware({ health: true })") },
  ]);
});

test("another program gets no token", async () => {
  const tokens: (string | undefined)[] = [];
  const url = await serve(({ url = "", headers }, response) => {
    if (url.startsWith("/readyz")) tokens.push(headers.authorization);
    response.end('{"status":"up"}');
  });
  await examine({ ...(await refusingPlatform()), PORT: new URL(url).port });
  expect(tokens).toEqual([undefined]);
});

test("the token goes to this machine alone", async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = own.map(({ address, family }) =>
    family === "IPv6" ? `[${address}]` : address,
  );
  for (const host of ["localhost", "127.0.0.1", "[::1]", ...addresses]) {
    expect(await isThisMachine(host), host).toBe(true);
  }
  expect(await isThisMachine("192.0.2.1")).toBe(false);
  expect(await isThisMachine("[2001:db8::1]")).toBe(false);
});
