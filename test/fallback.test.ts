import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bot, type BotOptions, sign } from "../src/index.ts";
import { ManualClock } from "../src/testing/index.ts";
import { logSink } from "./support/log.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const SECRET = "whsec_of_this_test";

/** An event log behind a `fetch` function. Its clock may be wrong. */
class Log {
  readonly #clock: ManualClock;
  readonly #offMs: number;
  readonly #events: object[] = [];

  constructor(clock: ManualClock, offMs = 0) {
    this.#clock = clock;
    this.#offMs = offMs;
  }

  add(type: string): object {
    const createdAt = new Date(this.#clock.now() + this.#offMs).toISOString();
    const payload = {
      actor: { username: "ada", name: "Ada" },
      entityType: "post",
      entityId: "p_1",
    };
    const event = { id: String(this.#events.length + 1), type, createdAt, payload };
    this.#events.push(event);
    return event;
  }

  readonly fetch: NonNullable<BotOptions["fetch"]> = async (url) => {
    const since = new URL(url).searchParams.get("since");
    const from = since === "" ? this.#events.length : Number(since ?? 0);
    const events = since === "" ? [] : this.#events.slice(from);
    const cursor = String(from + events.length);
    const date = new Date(this.#clock.now() + this.#offMs).toUTCString();
    return Response.json({ events, cursor }, { headers: { date } });
  };
}

async function start(
  clock: ManualClock,
  log: Log,
  { file = ":memory:", ...options }: BotOptions & { file?: string } = {},
): Promise<Bot> {
  const bot = new Bot({
    env: {},
    baseUrl: "http://platform.test",
    apiKey: "key",
    webhookSecret: SECRET,
    databaseUrl: `file:${file}`,
    clock,
    fetch: log.fetch,
    logger: logSink().log,
    ...options,
  });
  bot.on("mention", () => undefined);
  await bot.start({ listen: false });
  onTestFinished(() => bot.stop());
  await clock.advance(0);
  return bot;
}

async function deliver(bot: Bot, clock: ManualClock, event: object): Promise<number> {
  const body = JSON.stringify({ events: [event] });
  const signature = sign(body, SECRET, clock.now() / 1000);
  const headers = { "content-type": "application/json", "x-service-signature": signature };
  const url = "http://bot.test/webhook";
  const answer = await bot.handle(new Request(url, { method: "POST", headers, body }));
  return answer.status;
}

describe("a whole bot takes over", () => {
  test.each([3, -3])("in time where the platform's clock is %i h off", async (hours) => {
    const clock = new ManualClock(1_800_000_000_000);
    const log = new Log(clock, hours * HOUR);
    const bot = await start(clock, log);
    await clock.advance(MINUTE - 1_000);
    log.add("mention");
    await clock.advance(1_000);
    expect((await bot.status()).inbox).toBeDefined();
    // The event was created a second before the audit found it. The platform's times have a resolution of one second.
    await clock.advance(42_000);
    expect(bot.mode).toBe("auditing");
    await clock.advance(4_000);
    expect(bot.mode).toBe("polling");
  });

  test("not for a type that never arrived by webhook, even after a restart", async () => {
    const clock = new ManualClock(1_800_000_000_000);
    const log = new Log(clock);
    const file = join(temporaryFolder(), "bot.db");
    const before = await start(clock, log, { file });
    expect(await deliver(before, clock, log.add("mention"))).toBe(200);
    await before.stop();
    const after = await start(clock, log, { file });
    await clock.advance(MINUTE);
    log.add("like");
    await clock.advance(10 * MINUTE);
    expect(after.mode).toBe("auditing");
    log.add("mention");
    await clock.advance(3 * MINUTE);
    expect(after.mode).toBe("polling");
  });
});

test("an event without a date does not hold the cursor, so that what is forgotten is not read again", async () => {
  const clock = new ManualClock(1_800_000_000_000);
  const log = new Log(clock);
  const runs: string[] = [];
  const bot = await start(clock, log, {
    auditIntervalMs: 10 * MINUTE,
    delivery: "polling",
    pollIntervalMs: 10 * MINUTE,
    retention: { bodiesMs: HOUR, idsMs: 2 * HOUR },
  });
  bot.on("mention", (ctx) => void runs.push(ctx.event.id));
  for (let id = 1; id <= 3; id++) {
    const event = log.add("mention");
    if (id === 2) Object.assign(event, { createdAt: undefined });
  }
  for (let hour = 0; hour < 10; hour++) await clock.advance(HOUR);
  expect(runs).toEqual(["1", "2", "3"]);
  expect((await bot.status()).log?.cursor).toBe("3");
});
