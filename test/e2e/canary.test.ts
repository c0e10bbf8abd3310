import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { variables } from "../../src/config.ts";
import type { AttachedInbox } from "../../src/inbox/attached.ts";
import { attachPostgres } from "../../src/inbox/postgres/attach.ts";
import { attachInbox } from "../../src/inbox/sqlite/attach.ts";
import { sign } from "../../src/signature/signature.ts";
import { serviceBotEnds } from "../cli/cli.ts";
import { sampleOf, withChunk } from "../client/images/samples.ts";
import { undocumented } from "../docs/logged.ts";
import { look } from "../support/postgres/look.ts";
import { giveToServer, PostgresServer } from "../support/postgres/server.ts";
import { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Canary, leaks } from "./canary/forms.ts";
import { indiscreet, type LogFault } from "./canary/indiscreet.ts";

const BOT = fileURLToPath(new URL("./canary/canary-bot.ts", import.meta.url));

/** What a handler may be made to do, by the first word of a message; each ends in one of two lines. */
const handled = ["answer", "picture", "away"];
const dead = [
  ...["refused", "upload", "search", "throw", "json", "named", "reject", "giveup", "step"],
  "observer",
];

const song = () => `c4n4ry${randomBytes(10).toString("hex")}`;

/** A text with all that is written otherwise in JSON and in URLs. */
const phrase = (words: string) => `"${words}" & löve\\s it`;

/** Where a bot has its inbox. */
interface Place {
  address(folder: string): string;
  /** The inbox as `service-bot inbox` has it. */
  open(address: string): Promise<Pick<AttachedInbox, "admin" | "close">>;
  /** What nobody may see of the address. */
  readonly canaries: readonly Canary[];
}

/** A bot in a process of its own, the platform that says everything back, and all that came out of either. */
async function stage(place: Place) {
  const platform = await runPlatform({ retryIntervalMs: 200 });
  const proxy = await indiscreet(platform.url);
  const folder = temporaryFolder();
  const songs = { message: song(), mention: song(), comment: song(), says: song(), image: song() };
  const oldSecret = `whsec_${song()}`;
  const image = withChunk(sampleOf("png"), "tEXt", Buffer.from(`Comment\0${songs.image}`));
  const env: Record<string, string> = {
    SERVICE_BASE_URL: proxy.url,
    SERVICE_API_KEY: platform.apiKey,
    SERVICE_WEBHOOK_SECRET: `${platform.webhookSecret},${oldSecret}`,
    DATABASE_URL: place.address(folder),
    PORT: "0",
    LOG_LEVEL: "trace",
    MAX_ATTEMPTS: "2",
    AUDIT_INTERVAL_MS: "100",
    POLL_INTERVAL_MS: "100",
    SILENCE_MS: "300",
    BOT_SAYS: phrase(songs.says),
    IMAGE: image.toString("base64"),
  };
  const canaries: Canary[] = [
    ...Object.entries(songs).map(([name, text]) => ({ name, song: text })),
    { name: "token", song: platform.apiKey },
    { name: "secret", song: platform.webhookSecret.slice("whsec_".length) },
    { name: "old secret", song: oldSecret.slice("whsec_".length) },
    ...place.canaries,
  ];
  const outputs: string[] = [];
  const runs: TestProcess[] = [];
  const start = async () => {
    const bot = new TestProcess([BOT], { bareEnv: true, cwd: folder, env });
    runs.push(bot);
    const { url } = await bot.message("ready");
    platform.control.saveWebhook({ url: `${url}/webhook` });
    return { bot, url: String(url) };
  };
  const ask = async (url: string, init?: RequestInit) => {
    const response = await fetch(url, init);
    const text = await response.text();
    outputs.push(`${response.status} ${JSON.stringify([...response.headers])} ${text}`);
    return response.status;
  };
  const run = async (...args: string[]) => {
    const { code, out, err } = await serviceBotEnds(args, { cwd: folder, env });
    outputs.push(out, err);
    return { code, out };
  };
  // Where the bot has a page of metrics, that is a page like the others.
  const metrics = "metricsPort" in variables ? await reservePort() : undefined;
  if (metrics !== undefined) env.METRICS_PORT = String(metrics);
  const everything = () => [...outputs, ...runs.map((bot) => bot.output())].join("\n");
  const open = () => place.open(env.DATABASE_URL ?? "");
  return {
    ...{ platform, proxy, songs, oldSecret, env, canaries, runs },
    ...{ start, ask, run, open, everything, metrics },
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** What a sender may do right and wrong. */
async function deliver({ ask, songs, platform, oldSecret }: Stage, url: string): Promise<number[]> {
  const words = phrase(songs.message);
  const now = Date.now() / 1000;
  const post = (body: string, header?: string, path = "/webhook") =>
    ask(`${url}${path}`, {
      method: "POST",
      body,
      headers: {
        ...(header === undefined ? {} : { "x-service-signature": header }),
        "x-service-event-count": "7",
      },
    });
  const signed = (body: string, secret = platform.webhookSecret, at = now) =>
    post(body, sign(body, secret, at));
  const payload = { conversationId: "c_0", from: {}, excerpt: [words] };
  const odd = JSON.stringify({ events: [words, { id: "1", type: "dm.message", payload }] });
  const empty = JSON.stringify({ events: [] });
  return [
    await signed(odd),
    await signed(odd),
    await signed(empty, oldSecret),
    await signed(JSON.stringify({ events: words })),
    await signed(`{"events":["${words}`),
    await signed(JSON.stringify({ events: [words.repeat(1_000)] })),
    await signed(empty, platform.webhookSecret, now - 1_000),
    await post(odd),
    await post(odd, `t=${words.replaceAll(/[^ -~]/g, "")},v1=${platform.webhookSecret}`),
    await post(odd, undefined, `/${encodeURIComponent(words)}`),
    await ask(`${url}/webhook?${encodeURIComponent(words)}`),
    ...(await Promise.all(Array.from({ length: 30 }, () => signed(odd, "whsec_of_a_stranger")))),
  ];
}

/** Resolves when the bot has written a line of this message for so many events. */
async function ends(bot: TestProcess, message: string, count: number): Promise<void> {
  await bot.line(() => {
    const lines = bot.stdout.filter((line) => line.includes(`"msg":"${message}"`));
    return lines.length >= count;
  });
}

/** Everything that the bot may meet while it runs. */
async function meetEverything(it: Stage, bot: TestProcess, url: string): Promise<void> {
  const { platform, proxy, songs, ask } = it;
  for (const how of [...handled, ...dead]) {
    const from = `user_${how}`;
    platform.control.act({ type: "dm.message", from, text: `${how} ${phrase(songs.message)}` });
  }
  platform.control.act({
    type: "mention",
    from: "ada",
    text: `throw ${phrase(songs.mention)}`,
  });
  platform.control.act({
    ...{ type: "comment", from: "ben" },
    text: `json ${phrase(songs.comment)}`,
  });
  platform.control.act({ type: "follow", from: "cleo" });
  expect(new Set(await deliver(it, url))).toEqual(new Set([200, 400, 401, 404, 405, 413]));
  await ends(bot, "dead letter", dead.length + 3);
  await ends(bot, "handled", handled.length);
  const faults: LogFault[] = ["error", "words", "page", "events", "elsewhere"];
  for (const fault of faults) await proxy.spoil(fault, phrase(songs.message));
  platform.control.saveWebhook({ url: "http://127.0.0.1:9/nobody" });
  platform.control.act({ type: "dm.message", from: "eve", text: `throw ${phrase(songs.message)}` });
  await bot.message("polling takes over from the webhook");
  await ends(bot, "dead letter", dead.length + 4);
  for (const path of ["/readyz?verbose", "/readyz", "/healthz"]) await ask(`${url}${path}`);
  if (it.metrics !== undefined) {
    expect(await ask(`http://127.0.0.1:${it.metrics}/metrics`)).toBe(200);
  }
}

/** What an operator types. */
async function askForEverything({ run }: Stage): Promise<void> {
  const list = ["inbox", "list", "--state", "all", "--limit", "100"];
  await Promise.all([
    run("inbox", "stats"),
    run("inbox", "--json"),
    run(...list),
    run(...list, "--json"),
    run("inbox", "show", "nobody"),
    run("doctor"),
    run("doctor", "--json"),
  ]);
}

/**
 * Everything about each event, but for the event itself and its steps, which hold what the bot has said: to show
 * these is what `inbox show` is for.
 */
async function showEverything({ open }: Stage): Promise<string> {
  const { admin, close } = await open();
  const { events } = await admin.list({ limit: 100 });
  const shown = await Promise.all(events.map(({ id }) => admin.show(id)));
  await close();
  expect(shown.filter(({ body }) => body !== undefined).length).toBeGreaterThan(dead.length);
  return JSON.stringify(shown.map(({ body: _body, steps: _steps, ...rest }) => rest));
}

/** A bot that ends its process twice over one event. */
async function crash(it: Stage, first: TestProcess): Promise<TestProcess> {
  const text = `crash ${phrase(it.songs.message)}`;
  it.platform.control.act({ type: "dm.message", from: "mallory", text });
  expect(await first.exited).toMatchObject({ code: 9 });
  const second = await it.start();
  expect(await second.bot.exited).toMatchObject({ code: 9 });
  const { bot } = await it.start();
  await bot.line((line) => line.includes("HANDLER_CRASHED"));
  return bot;
}

/** Configurations that cannot be used, with what nobody may see in them. */
async function misconfigure({ env, runs }: Stage): Promise<void> {
  const { SERVICE_API_KEY = "", SERVICE_WEBHOOK_SECRET = "" } = env;
  const bad: Record<string, string>[] = [
    {
      SERVICE_WEBHOOK_SECRET: SERVICE_WEBHOOK_SECRET.replaceAll("whsec_", ""),
      SERVICE_API_KEY: `${SERVICE_API_KEY} ${SERVICE_API_KEY}`,
      DATABASE_URL: `mysql://bot:${SERVICE_API_KEY}@127.0.0.1/bot`,
      SERVICE_BASE_URL: `http://bot:${SERVICE_API_KEY}@127.0.0.1:1/`,
    },
    { DATABASE_URL: `postgres://bot:${SERVICE_API_KEY}@127.0.0.1/%zz` },
  ];
  const bots = bad.map(
    (change) => new TestProcess([BOT], { bareEnv: true, env: { ...env, ...change } }),
  );
  runs.push(...bots);
  for (const bot of bots) expect(await bot.exited, bot.output()).toMatchObject({ code: 2 });
}

/** The lines that the bot has logged by itself. */
function linesOf(runs: readonly TestProcess[]): Record<string, unknown>[] {
  const lines = runs.flatMap(({ stdout }) => stdout).filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg !== "got");
}

/** What makes the test one: it did come to all of this. */
const told = [
  ...["SIGNATURE_MISMATCH", "SIGNATURE_MISSING", "SIGNATURE_MALFORMED", "SIGNATURE_STALE"],
  ...["BODY_INVALID", "TOO_LARGE", "VALIDATION", "STEP_UNCERTAIN", "HANDLER_TIMEOUT", "GAVE_UP"],
  ...["HANDLER_CRASHED", "API_INVALID_RESPONSE", "API_REDIRECT", "AWAY", "BROKEN"],
  ...["an onError observer failed", "the onSwitch option failed", "cannot understand"],
  ...["X-Service-Event-Count disagrees", "signed with an old secret", "STORE_UNAVAILABLE"],
  ...["the event log cannot be read", "put off; the attempt does not count", '"repeated":'],
  ...[
    "the platform does not accept the token",
    "stopped",
    "must begin with whsec_",
    '"lastPollError"',
  ],
];

async function live(it: Stage, failStore: (url: string) => Promise<void>): Promise<string> {
  const { bot, url } = await it.start();
  await meetEverything(it, bot, url);
  expect((await it.run("doctor")).code).toBe(0);
  const last = await crash(it, bot);
  void it.proxy.spoil("token", "");
  await last.message("the platform does not accept the token: check SERVICE_API_KEY");
  await failStore(String((await last.message("ready")).url));
  await askForEverything(it);
  const shown = await showEverything(it);
  last.kill("SIGTERM");
  expect(await last.exited).toMatchObject({ code: 0 });
  await misconfigure(it);
  return `${it.everything()}\n${shown}`;
}

function expectQuiet(it: Stage, output: string): void {
  expect(told.filter((words) => !output.includes(words))).toEqual([]);
  expect(leaks(output, it.canaries)).toEqual([]);
  const odd = linesOf(it.runs).map(undocumented);
  expect([...new Set(odd)].filter((line) => line !== undefined)).toEqual([]);
}

describe("neither secrets nor texts come out of a bot that meets everything", () => {
  test("with its inbox in a file", { timeout: 180_000 }, async () => {
    const it = await stage({
      address: (folder) => `file:${join(folder, "bot.db")}`,
      open: async (address) => attachInbox(address.slice("file:".length)),
      canaries: [],
    });
    const output = await live(it, async () => {
      const env: Record<string, string> = {
        ...it.env,
        MIN_FREE_BYTES: String(Number.MAX_SAFE_INTEGER),
      };
      env.DATABASE_URL = `file:${join(temporaryFolder(), "full.db")}`;
      const full = new TestProcess([BOT], { bareEnv: true, env });
      it.runs.push(full);
      const { url } = await full.message("ready");
      expect(await deliver(it, String(url))).toContain(503);
      full.kill("SIGTERM");
      expect(await full.exited).toMatchObject({ code: 0 });
    });
    expectQuiet(it, output);
  });

  describe("with its inbox in PostgreSQL", () => {
    let server: PostgresServer;
    let rules: string;
    const password = song();

    beforeAll(async () => {
      rules = mkdtempSync(join(tmpdir(), "pg-hba-"));
      const hba = join(rules, "pg_hba.conf");
      writeFileSync(hba, "host bot all all scram-sha-256\nhost all all all trust\n");
      for (const path of [rules, hba]) giveToServer(path);
      server = await PostgresServer.start("18", [`hba_file=${hba}`]);
      await look({ url: server.url() }, `ALTER ROLE bot PASSWORD '${password}&/'`);
      await look({ url: server.url() }, "CREATE DATABASE bot");
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      rmSync(rules, { recursive: true, force: true });
    });

    test("whose password is a secret, too", { timeout: 180_000 }, async () => {
      const it = await stage({
        address: () => `postgres://bot:${password}%26%2F@127.0.0.1:${server.port}/bot`,
        open: (url) => attachPostgres({ url, schema: "service_bot" }),
        canaries: [{ name: "password", song: password }],
      });
      const output = await live(it, async (url) => {
        await server.end("immediate");
        expect(await deliver(it, url)).toContain(503);
        await it.ask(`${url}/readyz?verbose`);
        await it.run("inbox");
        await server.begin();
      });
      expectQuiet(it, output);
    });
  });
});

test("the search finds a canary wherever it sits", () => {
  const canary = { name: "one", song: song() };
  const line = JSON.stringify({ text: phrase(canary.song) });
  for (const text of [line, JSON.stringify(line), encodeURIComponent(line)]) {
    expect(leaks(text, [canary])).toEqual(["one"]);
  }
  for (const encoding of ["base64", "base64url", "hex"] as const) {
    for (const before of ["", "1", "12"]) {
      expect(leaks(Buffer.from(before + line).toString(encoding), [canary])).toEqual(["one"]);
    }
  }
  expect(leaks(line, [{ name: "another", song: song() }])).toEqual([]);
});
