import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { aboutBot, isThisMachine, type RunningBot } from "../../faces/cli.ts";
import { runBot, runPlatform } from "../../support/running-bot.ts";
import { access, examine, refusingPlatform, serve, trouble } from "./examine.ts";

const NOW = Date.parse("2026-11-20T16:00:00Z");

const well: RunningBot = {
  ready: true,
  mode: "auditing",
  modeSince: "2026-11-20T15:00:00.000Z",
  modeReason: "the webhook brings the events",
  log: { lastPollError: null, lagMs: 60_000 },
};

const findingsOf = (
  bot: Partial<RunningBot>,
  delivery: "auto" | "polling" = "auto",
  auditIntervalMs = 60_000,
) => aboutBot({ ...well, ...bot }, { delivery, auditIntervalMs, pollIntervalMs: 4_000 }, NOW);

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

test("a restore is reported until the event log is read", () => {
  const at = "2026-11-20T15:30:00.000Z";
  expect(findingsOf({ restored: { at, readAt: null } })).toMatchObject([
    { level: "ok" },
    {
      level: "note",
      what: expect.stringMatching(/restored 30 min ago from a backup/),
      remedy: expect.stringContaining("docs/operate/backup.md"),
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
