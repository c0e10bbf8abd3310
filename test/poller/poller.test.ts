import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ApiError, type LogPurpose, NetworkError } from "../faces/client.ts";
import { duringEvent, sleep } from "../faces/core.ts";
import { defaultLane } from "../faces/events.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { type Mode, Poller, type PollerOptions } from "../faces/poller.ts";
import { ManualClock } from "../faces/testing.ts";
import { loggedSender } from "../support/channels.ts";
import { logSink } from "../support/log.ts";
import { watching } from "../support/manual-watch.ts";
import { FakeLog } from "./fake-log.ts";

const POLL = 4_000;
const AUDIT = 60_000;
const SILENCE = 45_000;

let clock: ManualClock;
let inbox: SqliteInbox;
let log: FakeLog;
let lines: ReturnType<typeof logSink>;
let switches: Mode[];

beforeEach(() => {
  clock = new ManualClock(1_800_000_000_000);
  inbox = new SqliteInbox({ file: ":memory:", clock });
  log = new FakeLog(clock);
  lines = logSink();
  switches = [];
});

async function start(options: Partial<PollerOptions> = {}): Promise<Poller> {
  const poller = new Poller({
    inbox,
    client: log,
    laneOf: defaultLane,
    startFrom: "now",
    platformClock: { now: () => clock.now() },
    clock,
    log: lines.log,
    bot: loggedSender(lines.log),
    delivery: "auto",
    pollIntervalMs: POLL,
    auditIntervalMs: AUDIT,
    silenceMs: SILENCE,
    webhookTypes: new Set(["dm.message"]),
    onSwitch: (mode) => switches.push(mode),
    random: () => 0,
    ...options,
  });
  poller.start();
  onTestFinished(() => poller.stop());
  await clock.advance(0);
  log.requests.length = 0;
  return poller;
}

const pending = async () => (await inbox.stats()).pending;

describe("auditing", () => {
  test("reads the log once per interval", async () => {
    await start();
    await clock.advance(AUDIT * 10);
    expect(log.requests).toHaveLength(10);
  });

  test("finds an event that the webhook lost", async () => {
    await start();
    log.add("1");
    await clock.advance(AUDIT);
    expect(await pending()).toBe(1);
  });

  test("does not miss an event that the webhook delivers during a read of the log", async () => {
    const poller = await start();
    log.add("1");
    const put = inbox.put.bind(inbox);
    inbox.put = async (...batch) => {
      const result = await put(...batch);
      // The webhook delivers an event shortly after the log returned it.
      poller.delivered([{ id: "1", type: "dm.message" }]);
      return result;
    };
    await clock.advance(AUDIT);
    await clock.advance(SILENCE * 2);
    expect(switches).toEqual([]);
  });

  test("switches to polling when the webhook stays silent, with one log line and its reason", async () => {
    const poller = await start();
    await clock.advance(AUDIT - 1_000);
    log.add("1");
    await clock.advance(1_000 + SILENCE);
    expect(poller.mode).toBe("polling");
    expect(switches).toEqual(["polling"]);
    const line = lines.records.find(({ mode }) => mode === "polling");
    expect(line).toMatchObject({ level: "warn", reason: expect.stringContaining("1 event") });
  });
});

describe("a start from a stored cursor", () => {
  beforeEach(async () => {
    await inbox.put([], "poll", [{ name: "events", position: "0" }]);
  });

  test("counts an event as missed if it was made before the start and only the first round found it", async () => {
    const poller = await start();
    log.add("1", "dm.message", clock.now() - 1);
    await clock.advance(AUDIT);
    expect(await pending()).toBe(1);
    expect(poller.mode).toBe("auditing");
  });

  test("does not count a later event as missed, even if the first round is late", async () => {
    log.failures = [new ApiError("away", { status: 503 })];
    const poller = await start({ random: () => 0.999 });
    await clock.advance(2_000);
    log.add("1");
    await clock.advance(2_000);
    expect(await pending()).toBe(1);
    expect(poller.mode).toBe("auditing");
  });
});

test("the very first start counts no event as missed", async () => {
  log.add("1", "dm.message", clock.now() - 1);
  const poller = await start({ startFrom: "oldest" });
  expect(await pending()).toBe(1);
  expect(poller.mode).toBe("auditing");
});

test.each([
  [true, []],
  [false, ["polling"]],
])("missing deliveries count unless the bot is catching up: %s", async (isCatchingUp, expected) => {
  await start({ isCatchingUp: () => isCatchingUp });
  log.add("1");
  await clock.advance(AUDIT + SILENCE);
  expect(switches).toEqual(expected);
});

test("events found before a read failed halfway still count", async () => {
  await start({ auditIntervalMs: 10 * AUDIT });
  log.add("1");
  const { events } = log;
  let requests = 0;
  Object.assign(log, {
    events: async (query: { since?: string }) => {
      requests += 1;
      // By then the previous page is stored, and no later read returns it.
      if (requests === 2) throw new ApiError("away", { status: 503 });
      return await events(query);
    },
  });
  await clock.advance(10 * AUDIT + SILENCE + 6_000);
  expect(switches).toEqual(["polling"]);
});

describe("polling", () => {
  async function startPolling(): Promise<Poller> {
    await inbox.put([], "poll", [{ name: "events", position: "0" }]);
    log.add("1", "dm.message", clock.now() - 1);
    const poller = await start();
    expect(poller.mode).toBe("polling");
    return poller;
  }

  test("reads the log at the polling interval, and passes events on immediately", async () => {
    await startPolling();
    await clock.advance(POLL * 5);
    expect(log.requests.length).toBeGreaterThanOrEqual(5);
    log.add("2");
    await clock.advance(POLL);
    expect(await pending()).toBe(2);
  });

  test("rereads the unsettled part once per audit interval", async () => {
    await startPolling();
    log.add("5");
    await clock.advance(POLL);
    log.add("4");
    await clock.advance(AUDIT);
    expect(await pending()).toBe(3);
  });

  test("reads only the head between two audits", async () => {
    await startPolling();
    await clock.advance(POLL * 5);
    expect(new Set(log.requests)).toEqual(new Set(["1"]));
  });

  test("continues while the log is unreadable, even if the webhook delivers", async () => {
    const poller = await startPolling();
    poller.delivered([{ id: "1", type: "dm.message" }]);
    log.failures = Array.from({ length: 100 }, () => new ApiError("away", { status: 503 }));
    await clock.advance(AUDIT * 3);
    expect(log.failures.length).toBeLessThan(98);
    expect(poller.mode).toBe("polling");
  });

  test("returns to auditing once the webhook delivers, with one log line", async () => {
    const poller = await startPolling();
    poller.delivered([{ id: "1", type: "dm.message" }]);
    await clock.advance(POLL * 3);
    expect(poller.mode).toBe("auditing");
    expect(switches).toEqual(["polling", "auditing"]);
    log.requests.length = 0;
    await clock.advance(AUDIT * 3);
    expect(log.requests.length).toBeLessThanOrEqual(4);
  });
});

describe("the purpose of a request", () => {
  const purposes: (LogPurpose | undefined)[] = [];
  const client: PollerOptions["client"] = {
    events: (query, { purpose } = {}) => {
      purposes.push(purpose);
      return log.events(query);
    },
  };

  beforeEach(() => {
    purposes.length = 0;
  });

  test("is an audit, even in the search for the start position", async () => {
    await start({ client });
    await clock.advance(2 * AUDIT);
    expect(purposes).toEqual(["audit", "audit", "audit", "audit"]);
  });

  test("is polling after the takeover from a silent webhook", async () => {
    const poller = await start({ client });
    await clock.advance(1_000);
    log.add("1");
    await clock.advance(2 * AUDIT);
    expect(poller.mode).toBe("polling");
    const first = purposes.indexOf("poll");
    expect(first).toBeGreaterThan(1);
    expect(new Set(purposes.slice(0, first))).toEqual(new Set(["audit"]));
    expect(new Set(purposes.slice(first))).toEqual(new Set(["poll"]));
  });

  test("is polling from the start with DELIVERY=polling", async () => {
    await start({ client, delivery: "polling" });
    await clock.advance(AUDIT);
    expect(new Set(purposes)).toEqual(new Set(["poll"]));
  });
});

describe("the status", () => {
  test("reports no end of the log for a read that gave up on pages without events", async () => {
    const events = async ({ since = "0" }: { since?: string | undefined }) => ({
      events: [],
      cursor: String(Number(since) + 1),
      date: clock.now(),
    });
    const poller = await start({ client: { events } });
    await clock.advance(POLL);
    expect(poller.status.lastPollAt).toBeDefined();
    expect(poller.status.readToEndAt).toBeUndefined();
  });

  test("dates the end of the log by the start of the read, because events may arrive during it", async () => {
    const slow: typeof log.events = async (query) => {
      await sleep(clock, 100);
      return await log.events(query);
    };
    const began = clock.now();
    const poller = await start({ client: { events: slow }, startFrom: "oldest" });
    await clock.advance(100);
    expect(poller.status).toMatchObject({ readToEndAt: began, lastPollAt: began + 100 });
  });
});

describe("the onSwitch option", () => {
  test.each([
    [
      "throws",
      () => {
        throw new Error("slack is away");
      },
    ],
    ["rejects", () => Promise.reject(new Error("slack is away"))],
  ])(
    "that %s ends neither the process nor the loop, and is logged with its cause",
    async (_how, onSwitch) => {
      await start({ onSwitch });
      log.add("1");
      await clock.advance(AUDIT * 2);
      expect(lines.records.filter(({ level }) => level === "error")).toMatchObject([
        { err: { message: "slack is away" } },
      ]);
      expect(lines.records.filter(({ retryInMs }) => retryInMs !== undefined)).toEqual([]);
      log.add("2");
      await clock.advance(POLL);
      expect(await pending()).toBe(2);
    },
  );
});

test("an onSwitch option that blocks the event loop is named", async () => {
  const { run, compute, reported } = watching();
  await duringEvent(run("a"), () => start({ onSwitch: () => compute(1_500) }));
  log.add("1");
  await clock.advance(AUDIT * 2);
  expect(reported()).toMatchObject([{ suspects: ["a onSwitch()"] }]);
});

describe("a log without end", () => {
  test("is reported once, and read at the audit interval", async () => {
    let requests = 0;
    const events = async () => {
      requests += 1;
      return { events: [], cursor: String(requests), date: clock.now() };
    };
    await start({ client: { events }, delivery: "polling" });
    await clock.advance(AUDIT * 4);
    expect(requests).toBeLessThan(102 * 6);
    const told = lines.records.filter(({ level }) => level === "warn");
    expect(told).toHaveLength(1);
    expect(told[0]).not.toHaveProperty("err");
    expect(told[0]).not.toHaveProperty("retryInMs");
  });
});

describe("DELIVERY=polling", () => {
  test("polls from the beginning and never switches", async () => {
    const poller = await start({ delivery: "polling" });
    poller.delivered([{ id: "1", type: "dm.message" }]);
    await clock.advance(POLL * 100);
    expect(log.requests.length).toBeGreaterThanOrEqual(100);
    expect(switches).toEqual([]);
  });
});

describe("failures", () => {
  test("requests to an unreachable platform are retried with growing delays, and reported once", async () => {
    await start({ random: () => 0.999 });
    const down = () => new NetworkError("API_UNREACHABLE", "down", { sent: false });
    log.failures = Array.from({ length: 6 }, down);
    const left: number[] = [];
    for (let at = 0; at < 240; at += 30) {
      await clock.advance(30_000);
      left.push(log.failures.length);
    }
    // The requests come after 60, 64, 72, 88, 120 and 180 seconds.
    expect(left).toEqual([6, 5, 2, 1, 1, 0, 0, 0]);
    const told = lines.records.filter(({ level }) => level === "warn");
    expect(told).toMatchObject([
      { err: { code: "API_UNREACHABLE" }, retryInMs: expect.any(Number) },
    ]);
    // One line says that the log can be read again.
    expect(lines.records.filter(({ level }) => level === "info")).toHaveLength(1);
  });

  test("Retry-After is honoured", async () => {
    await start();
    log.failures = [new ApiError("slow down", { status: 429, retryAfterMs: 90_000 })];
    await clock.advance(AUDIT);
    log.requests.length = 0;
    await clock.advance(89_999);
    expect(log.requests).toEqual([]);
    await clock.advance(1);
    expect(log.requests).toHaveLength(1);
  });

  test.each([
    ["auto", /^webhook deliveries continue/],
    ["polling", /^no events arrive/],
  ] as const)(
    "a missing scope is logged once as an error, and retried after a minute (%s)",
    async (delivery, meanwhile) => {
      await start({ delivery });
      log.failures = Array.from({ length: 3 }, () => new ApiError("no", { status: 403 }));
      await clock.advance(delivery === "polling" ? POLL : AUDIT);
      log.requests.length = 0;
      await clock.advance(59_999);
      expect(log.requests).toEqual([]);
      await clock.advance(60_000 * 2);
      const told = lines.records.filter(({ level }) => level === "error");
      expect(told).toMatchObject([
        { meanwhile: expect.stringMatching(meanwhile), retryInMs: 60_000 },
      ]);
      expect(log.failures).toEqual([]);
    },
  );

  test.each([
    ["an unknown token", new ApiError("no", { status: 401 })],
    ["an app that is switched off", new ApiError("no", { status: 403, refusesToken: true })],
  ])("%s is an outage: the read is retried at least every minute", async (_name, error) => {
    await start({ random: () => 0.999 });
    log.failures = Array.from({ length: 20 }, () => error);
    await clock.advance(60_000 * 20 + AUDIT);
    expect(log.failures).toEqual([]);
    const told = lines.records.filter(({ level }) => level === "error" || level === "warn");
    expect(told).toMatchObject([{ level: "warn", retryInMs: expect.any(Number) }]);
  });

  test("a different kind of failure is reported again", async () => {
    await start();
    const statuses = [401, 401, 403, 503, 503, 401];
    log.failures = statuses.map((status) => new ApiError("no", { status }));
    await clock.advance(60_000 * 7);
    expect(log.failures).toEqual([]);
    const told = lines.records.filter(({ level }) => level === "error" || level === "warn");
    expect(told).toMatchObject([
      { level: "warn", retryInMs: expect.any(Number) },
      { level: "error", meanwhile: expect.any(String) },
      { level: "warn", retryInMs: expect.any(Number) },
    ]);
  });

  test("a first start that fails is retried from the same position", async () => {
    log.failures = [new NetworkError("API_UNREACHABLE", "down", { sent: false })];
    log.add("1");
    await start();
    await clock.advance(POLL);
    log.add("2");
    await clock.advance(AUDIT);
    expect(await pending()).toBe(1);
  });

  test("a first start whose position cannot be stored is retried from the same position", async () => {
    const put = inbox.put.bind(inbox);
    const lost = Promise.reject(new Error("the database restarts"));
    vi.spyOn(inbox, "put").mockReturnValueOnce(lost).mockImplementation(put);
    log.add("1");
    await start();
    log.add("2");
    await clock.advance(AUDIT);
    expect(await pending()).toBe(1);
  });
});

test("stopping ends the loop immediately, in the middle of a wait", async () => {
  const poller = await start();
  await poller.stop();
  log.requests.length = 0;
  await clock.advance(AUDIT * 3);
  expect(log.requests).toEqual([]);
});
