import { createServer } from "node:http";
import { join } from "node:path";
import { trace } from "@opentelemetry/api";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Bot } from "../../src/index.ts";
import { transportOf } from "../faces/client.ts";
import { RUNS_PATH } from "../faces/core.ts";
import { GiveUp, RetryLater } from "../faces/errors.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { channels, RunReporter } from "../faces/observe.ts";
import { runMessage } from "../support/channels.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { logSink } from "../support/log.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const dm = { type: "dm.message", from: "ada", text: "a text of Ada" } as const;

const bot = {};

const publishRun = () => channels.run.publish(runMessage(bot));

/** Starts a server that gives every request to {@link RUNS_PATH} the same response, and records the bodies. */
async function runAnswering(
  status: number,
  body: string,
): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (request.url === RUNS_PATH) bodies.push(text);
    response.writeHead(status).end(body);
  });
  return { url: (await listenUntilEnd(server)).url, bodies };
}

type Answer = (init: RequestInit) => Response | Promise<Response>;

const accepted = () => Response.json({ accepted: 0 });

/** Starts a reporter whose requests get these responses, and records their bodies. */
function reporting(answer: Answer = accepted, url?: string) {
  const bodies: string[] = [];
  const send = transportOf(async (_url, init) => {
    bodies.push(String(init.body));
    return await answer(init);
  });
  const reporter = RunReporter.for(bot, { baseUrl: "http://127.0.0.1:1", apiKey: "key", send });
  if (reporter === undefined) throw new Error("the platform is on this machine");
  onTestFinished(() => reporter.close());
  reporter.start(url);
  return { bodies, reporter, runs: () => bodies.map((body) => JSON.parse(body).runs) };
}

describe("a bot on the local platform", () => {
  test("reports that a run is done", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => void bot.on("dm.message", () => undefined));
    const { events } = platform.control.act(dm);
    const run = await platform.waitFor("run");
    expect(run).toMatchObject({
      bot: "bot",
      eventId: events[0]?.id,
      attempt: 1,
      outcome: "done",
      ms: expect.any(Number),
    });
    expect(run).not.toHaveProperty("error");
    expect(run).not.toHaveProperty("retryInMs");
  });

  test("reports each attempt, its error and when the next one is due, and that the last one is dead", async () => {
    const platform = await runPlatform();
    const broken = () => {
      throw new TypeError("no such thing");
    };
    const options = { retry: { baseMs: 1, maxMs: 50 }, maxAttempts: 3 };
    await runBot(platform, (bot) => void bot.on("dm.message", broken), options);
    platform.control.act(dm);
    const dead = await platform.waitFor("run", ({ outcome }) => outcome === "dead");
    const runs = platform.control.event(dead.eventId).runs;
    const error = { type: "TypeError", message: "no such thing" };
    expect(runs).toMatchObject([
      { attempt: 1, outcome: "retry", retryInMs: expect.any(Number), error },
      { attempt: 2, outcome: "retry", retryInMs: expect.any(Number), error },
      { attempt: 3, outcome: "dead", error },
    ]);
    expect(runs.map((run) => run.error?.stack !== undefined)).toEqual([true, false, false]);
    expect(runs[0]?.error?.stack).toContain("run-reporter.test.ts");
    expect(runs[2]).not.toHaveProperty("retryInMs");
  });

  test("reports postponed and abandoned runs", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => {
      bot.on("dm.message", () => {
        throw new RetryLater(60_000, "later", { counts: false });
      });
      bot.on("follow", () => {
        throw new GiveUp("never");
      });
    });
    platform.control.act(dm);
    platform.control.act({ type: "follow", from: "ada" });
    const released = await platform.waitFor("run", ({ outcome }) => outcome === "released");
    expect(released.retryInMs).toBe(60_000);
    const dead = await platform.waitFor("run", ({ outcome }) => outcome === "dead");
    expect(dead.error).toMatchObject({ message: "never" });
  });

  test("reports neither secrets nor user text", async () => {
    const platform = await runPlatform();
    const { apiKey, webhookSecret } = platform;
    const leak = (ctx: { readonly payload: { readonly excerpt?: string | undefined } }) => {
      throw new Error(`${apiKey} ${webhookSecret} ${ctx.payload.excerpt}`);
    };
    await runBot(platform, (bot) => void bot.on("dm.message", leak));
    platform.control.act(dm);
    const { error } = await platform.waitFor("run");
    expect(error?.message).toBe("[redacted] [redacted] [redacted]");
    for (const secret of [apiKey, webhookSecret, dm.text]) {
      expect(JSON.stringify(error)).not.toContain(secret);
    }
  });

  test("announces itself before the first run", async () => {
    const platform = await runPlatform();
    expect(platform.control.state().reportingBots).toEqual([]);
    const { bot } = await runBot(platform, () => undefined);
    await bot.stop();
    expect(platform.control.state().reportingBots).toEqual(["bot"]);
  });
});

describe("another platform", () => {
  test("gets no request unless it is on this machine", () => {
    for (const baseUrl of ["https://social.example", "http://192.168.1.7:4400"]) {
      expect(
        RunReporter.for(bot, { baseUrl, apiKey: "key", send: transportOf(undefined) }),
      ).toBeUndefined();
    }
  });

  test.each([
    [404, '{"error":{"code":"NOT_FOUND","message":""}}'],
    [200, '{"ok":true}'],
    [200, "<html>"],
  ])("that responds %i %s gets one request, before any run", async (status, body) => {
    const { url, bodies } = await runAnswering(status, body);
    const send = transportOf(undefined);
    const reporter = RunReporter.for(bot, { baseUrl: url, apiKey: "key", send });
    reporter?.start();
    publishRun();
    await reporter?.close();
    publishRun();
    expect(bodies).toEqual(['{"runs":[]}']);
  });

  test.each([
    [404, { accepted: 0 }],
    [200, { ok: true }],
  ])("that answers %i %j later on gets no further report", async (status, body) => {
    let isLocal = true;
    const { bodies } = reporting(() => (isLocal ? accepted() : Response.json(body, { status })));
    await new Promise(setImmediate);
    isLocal = false;
    for (let run = 0; run < 3; run += 1) {
      publishRun();
      await new Promise(setImmediate);
    }
    expect(bodies).toHaveLength(2);
  });

  test("that is not ready at first gets a request with the next run", async () => {
    const statuses = [502, 200, 200];
    const { runs, reporter } = reporting(() =>
      Response.json({ accepted: 0 }, { status: statuses.shift() ?? 500 }),
    );
    await new Promise(setImmediate);
    publishRun();
    await reporter.close();
    expect(runs()).toMatchObject([[], [], [{ eventId: "evt_1" }]]);
  });

  test("gets the report of a run that ends while the sender finishes, at whichever moment", async () => {
    for (let moment = 0; moment < 100; moment += 1) {
      const { bodies, reporter } = reporting();
      for (let turn = 0; turn < moment; turn += 1) await Promise.resolve();
      publishRun();
      await reporter.close();
      expect(bodies, `after ${moment} microtasks`).toHaveLength(2);
    }
  });

  test("that is unavailable is harmless, and gets the report later", async () => {
    let isThere = false;
    const { runs, reporter } = reporting(() =>
      isThere ? accepted() : Promise.reject(new TypeError("fetch failed")),
    );
    await new Promise(setImmediate);
    isThere = true;
    publishRun();
    await reporter.close();
    expect(runs()).toMatchObject([[], [], [{ eventId: "evt_1" }]]);
  });

  test("gets another announcement without a run, because it may have restarted", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let requests = 0;
    const answer = () => {
      requests += 1;
      return requests === 2 ? Promise.reject(new TypeError("fetch failed")) : accepted();
    };
    const { bodies, reporter } = reporting(answer, "http://0.0.0.0:3000");
    await vi.advanceTimersByTimeAsync(60_000);
    await reporter.close();
    expect(bodies.length).toBeGreaterThan(2);
    const announced = '{"runs":[],"url":"http://127.0.0.1:3000"}';
    expect(new Set(bodies)).toEqual(new Set([announced]));
    const sent = bodies.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(bodies).toHaveLength(sent);
  });

  test("that never answers does not hold up the stop", { timeout: 5_000 }, async () => {
    let aborted = false;
    const { reporter } = reporting(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("aborted"));
          });
        }),
    );
    await reporter.close();
    expect(aborted).toBe(true);
  });
});

test.each([
  ["its inbox is held", "off"],
  ["its spans cannot be made", "on"],
] as const)(
  "a bot that does not start because %s leaves no subscription",
  async (_why, tracing) => {
    const file = join(temporaryFolder(), "bot.db");
    const held = new SqliteInbox({ file });
    const failing = vi.spyOn(trace, "getTracer").mockImplementation(() => {
      throw new Error("no tracer");
    });
    onTestFinished(async () => {
      failing.mockRestore();
      await held.close();
    });
    const requests: unknown[] = [];
    const bot = new Bot({
      env: {},
      baseUrl: "http://127.0.0.1:1",
      apiKey: "key",
      delivery: "polling",
      tracing,
      databaseUrl: `file:${file}`,
      logger: logSink().log,
      fetch: async (...request) => {
        requests.push(request);
        return new Response();
      },
    });
    const expected = tracing === "on" ? "no tracer" : "Stop";
    await expect(bot.start({ standalone: false })).rejects.toThrow(expected);
    // A subscribed reporter would send its first request immediately.
    channels.run.publish(runMessage(bot));
    expect(requests).toEqual([]);
  },
);
