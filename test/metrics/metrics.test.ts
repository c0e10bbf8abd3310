import { describe, expect, test } from "vitest";
import { GiveUp } from "../../src/index.ts";
import { channels } from "../faces/observe.ts";
import { SIGNATURE_HEADER } from "../faces/signature.ts";
import { dm, scrape, value, World } from "./world.ts";

const deliveries = "service_bot_deliveries_total";
const attempts = "service_bot_handler_attempts_total";

test("blocks of the event loop are counted", async () => {
  const bot = await new World().start();
  const blocks = "service_bot_event_loop_blocks_total";
  expect(await value(bot, blocks)).toBe(0);
  channels.blocked.publish({ bot, ms: 1_500, isCertain: false, suspects: [] });
  expect(await value(bot, blocks)).toBe(1);
});

describe("what comes in", () => {
  test("deliveries are counted by their answer", async () => {
    const world = new World();
    const bot = await world.start();
    await world.deliver(bot, [dm("1")]);
    await world.deliver(bot, [dm("2")], { secret: "whsec_of_somebody_else" });
    await world.post(bot, "{}", {});
    await world.post(bot, "{}", { [SIGNATURE_HEADER]: "nonsense" });
    expect(await value(bot, deliveries, { status: "200", code: "OK" })).toBe(1);
    expect(await value(bot, deliveries, { status: "401", code: "SIGNATURE_MISMATCH" })).toBe(1);
    expect(await value(bot, deliveries, { status: "400", code: "SIGNATURE_MISSING" })).toBe(1);
    expect(await value(bot, deliveries, { code: "SIGNATURE_MALFORMED" })).toBe(1);
    expect(await value(bot, deliveries, { code: "SIGNATURE_STALE" })).toBe(0);
    expect(await value(bot, "service_bot_delivery_duration_seconds_count")).toBe(1);
    expect(await value(bot, "service_bot_last_delivery_timestamp_seconds")).toBe(1_800_000_000);
  });

  test("a delivery that is too large, and one for a full inbox", async () => {
    const world = new World();
    const bot = await world.start({ maxBodyBytes: 1_000, maxBacklog: 1 }, (one) =>
      one.on("dm.message", () => Promise.reject(new Error("not now"))),
    );
    await world.deliver(bot, [dm("1", { padding: "x".repeat(2_000) })]);
    await world.deliver(bot, [dm("1")]);
    await world.deliver(bot, [dm("2")]);
    expect(await value(bot, deliveries, { status: "413", code: "BODY_TOO_LARGE" })).toBe(1);
    expect(await value(bot, deliveries, { status: "503", code: "INBOX_FULL" })).toBe(1);
  });

  test("events are counted once, by type and source; what is newer than this version is unknown", async () => {
    const world = new World();
    const bot = await world.start();
    await world.deliver(bot, [
      dm("1"),
      dm("1"),
      dm("2"),
      dm("3", { type: "made.up", payload: {} }),
    ]);
    await world.deliver(bot, [dm("2"), { id: "4", type: "dm.message", payload: {} }]);
    world.events.add("5", "like");
    await world.clock.advance(60_000);
    const events = "service_bot_events_total";
    expect(await value(bot, events, { type: "dm.message", source: "webhook" })).toBe(3);
    expect(await value(bot, events, { type: "unknown", source: "webhook" })).toBe(1);
    expect(await value(bot, events, { type: "like", source: "poll" })).toBe(1);
    const text = JSON.stringify([...(await scrape(bot)).values()]);
    expect(text).not.toContain("made.up");
    expect(await value(bot, "service_bot_events_duplicate_total", { source: "webhook" })).toBe(2);
    expect(await value(bot, "service_bot_events_unusable_total", { source: "webhook" })).toBe(1);
  });
});

describe("handlers", () => {
  test("runs are counted by what became of them, and timed", async () => {
    const world = new World();
    const bot = await world.start({ maxAttempts: 2 }, (one) => {
      one.on("dm.message", async ({ event }) => {
        if (event.id === "2") throw new Error("not now");
        if (event.id === "3") throw new GiveUp("never");
      });
    });
    await world.deliver(bot, [dm("1"), dm("2"), dm("3")]);
    await bot.idle();
    const of = (outcome: string) => value(bot, attempts, { type: "dm.message", outcome });
    expect(await of("done")).toBe(1);
    expect(await of("retry")).toBe(1);
    expect(await of("dead")).toBe(1);
    expect(await value(bot, "service_bot_events_pending")).toBe(1);
    expect(await value(bot, "service_bot_dead_letters")).toBe(1);
    const seconds = { type: "dm.message" };
    expect(await value(bot, "service_bot_handler_duration_seconds_count", seconds)).toBe(3);
    expect(await value(bot, "service_bot_handlers_running")).toBe(0);
  });

  test("an event that waits has an age, and one that is handled is at work", async () => {
    const world = new World();
    const finish = Promise.withResolvers<void>();
    const bot = await world.start({}, (one) => one.on("dm.message", () => finish.promise));
    await world.deliver(bot, [dm("1")]);
    await world.clock.advance(30_000);
    expect(await value(bot, "service_bot_oldest_pending_age_seconds")).toBe(30);
    expect(await value(bot, "service_bot_handlers_running")).toBe(1);
    expect(await value(bot, "service_bot_handlers_limit")).toBe(16);
    finish.resolve();
    await bot.idle();
    expect(await value(bot, "service_bot_oldest_pending_age_seconds")).toBe(0);
  });
});

describe("the platform", () => {
  test("requests are counted by the template of their path: no id is a label", async () => {
    const world = new World();
    const bot = await world.start({}, (one) => one.on("dm.message", ({ reply }) => reply("hello")));
    world.answer = () => Response.json({ id: "m_secret" }, { status: 201 });
    await world.deliver(bot, [dm("1")]);
    await bot.idle();
    const operation = "POST /dm/conversations/{id}/messages";
    const requests = "service_bot_api_requests_total";
    expect(await value(bot, requests, { operation, status: "201", code: "OK" })).toBe(1);
    expect(await value(bot, requests, { operation: "GET /events" })).toBeGreaterThan(0);
    const seconds = "service_bot_api_request_duration_seconds_count";
    expect(await value(bot, seconds, { operation })).toBe(1);
    const text = JSON.stringify([...(await scrape(bot)).values()]);
    for (const word of ["c1", "ada", "hello", "m_secret"]) expect(text).not.toContain(`"${word}"`);
  });

  test.each([
    [401, {}, "401", 1],
    [403, { code: "AGENT_SCOPE_MISSING" }, "403", 1],
    // The second request probes whether the platform rejects the whole app.
    [403, {}, "403", 2],
    [403, { code: "BLOCKED" }, "403", 0],
  ])("a token that is refused with %i %j is counted, and not who is blocked", async (...given) => {
    const [status, error, label, count] = given;
    const world = new World();
    const bot = await world.start({ delivery: "webhook" }, (one) => {
      one.onUnknown(({ client }) => client.me());
    });
    world.answer = () => Response.json({ error: { message: "no", ...error } }, { status });
    // With no account in the payload, only the handler sends requests.
    await world.deliver(bot, [{ ...dm("1"), type: "poll.closed", payload: {} }]);
    await bot.idle();
    expect(await value(bot, "service_bot_token_refused_total", { status: label })).toBe(count);
  });

  test("a platform that is away is held back, and let through when it is back", async () => {
    const world = new World();
    const bot = await world.start();
    const open = { circuit: "platform" };
    expect(await value(bot, "service_bot_circuit_open", open)).toBe(0);
    world.answer = () => Promise.reject(new TypeError("fetch failed"));
    await world.clock.advance(300_000);
    expect(await value(bot, "service_bot_circuit_open", open)).toBe(1);
    const failed = { operation: "GET /events", status: "none", code: "API_UNREACHABLE" };
    expect(await value(bot, "service_bot_api_requests_total", failed)).toBeGreaterThan(4);
    expect(await value(bot, "service_bot_log_lag_seconds")).toBeGreaterThanOrEqual(300);
    world.answer = undefined;
    await world.clock.advance(120_000);
    expect(await value(bot, "service_bot_circuit_open", open)).toBe(0);
    expect(await value(bot, "service_bot_log_lag_seconds")).toBeLessThanOrEqual(60);
  });

  test("an operation whose quota is used up stays held back, though it is answered again", async () => {
    const bot = await new World().start();
    const of = "POST /posts";
    channels.circuit.publish({ bot, of, why: "quota", open: true, retryInMs: 60_000 });
    channels.circuit.publish({ bot, of, why: "outages", open: true, retryInMs: 1_000 });
    channels.circuit.publish({ bot, of, why: "outages", open: false, retryInMs: 0 });
    const isOpen = (why: string) => value(bot, "service_bot_circuit_open", { circuit: of, why });
    expect([await isOpen("quota"), await isOpen("outages")]).toEqual([1, 0]);
  });

  test("requests that are held back are counted: the breaker's, and those without a place", async () => {
    const world = new World();
    const bot = await world.start({ maxRequestsPerMinute: 5 }, (one) => {
      one.on("dm.message", async ({ client }) => void (await client.me()));
    });
    world.answer = () => Response.json({ username: "bot" });
    await world.deliver(
      bot,
      Array.from({ length: 12 }, (_, n) => dm(`${n + 1}`)),
    );
    await world.clock.advance(6_000);
    const heldBack = "service_bot_api_held_back_total";
    expect(await value(bot, heldBack, { code: "API_BUDGET_SPENT" })).toBeGreaterThan(0);
    expect(await value(bot, "service_bot_request_budget_limit")).toBe(5);
    expect(await value(bot, "service_bot_request_budget_left")).toBeLessThan(5);
    expect(await value(bot, heldBack, { code: "API_CIRCUIT_OPEN" })).toBe(0);
    world.answer = () => new Response("", { status: 503, headers: { "retry-after": "600" } });
    await world.clock.advance(120_000);
    expect(await value(bot, heldBack, { code: "API_CIRCUIT_OPEN" })).toBeGreaterThan(0);
  });

  test("the clock is compared with the platform's", async () => {
    const world = new World();
    world.platformAheadMs = 400_000;
    const bot = await world.start();
    expect(await value(bot, "service_bot_clock_skew_seconds")).toBe(-400);
    const quiet = await new World().start({ delivery: "webhook" });
    expect(await value(quiet, "service_bot_clock_skew_seconds")).toBeNaN();
  });
});

describe("the event log", () => {
  test("mode, switches, readings and who reads", async () => {
    const world = new World();
    const bot = await world.start();
    const mode = (name: string) => value(bot, "service_bot_mode", { mode: name });
    expect([await mode("auditing"), await mode("polling"), await mode("webhook")]).toEqual([
      1, 0, 0,
    ]);
    expect(await value(bot, "service_bot_log_interval_seconds")).toBe(60);
    expect(await value(bot, "service_bot_log_reader")).toBe(1);
    expect(await value(bot, "service_bot_log_readers")).toBe(1);
    await world.deliver(bot, [dm("1")]);
    world.events.add("2");
    await world.clock.advance(180_000);
    expect(await mode("polling")).toBe(1);
    expect(await value(bot, "service_bot_mode_switches_total", { to: "polling" })).toBe(1);
    expect(await value(bot, "service_bot_log_interval_seconds")).toBe(4);
    expect(await value(bot, "service_bot_log_reads_total", { code: "OK" })).toBeGreaterThan(10);
    world.answer = () => new Response("", { status: 401 });
    await world.clock.advance(10_000);
    expect(await value(bot, "service_bot_log_reads_total", { code: "API_ERROR" })).toBe(3);
  });

  test("a bot that never reads it has no metrics of it", async () => {
    const bot = await new World().start({ delivery: "webhook" });
    const names = [...(await scrape(bot)).keys()];
    expect(names.filter((name) => /_log_|switches/.test(name))).toEqual([]);
    expect(await value(bot, "service_bot_mode", { mode: "webhook" })).toBe(1);
  });
});
