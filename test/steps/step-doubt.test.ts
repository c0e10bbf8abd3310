import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError, NetworkError } from "../faces/client.ts";
import { ServiceBotError } from "../faces/errors.ts";
import { effectCertainty } from "../faces/steps.ts";
import { unreadable } from "../support/unreadable.ts";
import { died, StepWorld } from "./step-world.ts";

let world: StepWorld;

beforeEach(async () => {
  world = new StepWorld();
  await world.put();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const broke = new NetworkError("API_UNREACHABLE", "the connection broke", { sent: true });
const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
const doubts: readonly (readonly [string, Error])[] = [
  ["a connection that broke", broke],
  ["a server error", new ApiError("oops", { status: 503 })],
  ["an answer that cannot be read", new ServiceBotError("API_INVALID_RESPONSE", "not JSON")],
  ["an abort", new DOMException("it was aborted", "AbortError")],
  ["a timeout", new DOMException("it took too long", "TimeoutError")],
  ["a fetch of one's own that broke", new TypeError("fetch failed", { cause: reset })],
  ["any of them as a cause", new Error("the charge failed", { cause: broke })],
];

describe.each(doubts)("a step that cannot be looked for, after %s", (_name, error) => {
  test("is uncertain at once, with the reason and the remedy", async () => {
    const charge = vi.fn(() => Promise.reject(error));
    const failed = (await world.begin()).run(world.own(charge));
    await expect(failed).rejects.toMatchObject({ code: "STEP_UNCERTAIN", cause: error });
    await expect(failed).rejects.toThrow(
      /"charge" failed.*unknown.*inbox retry 1 --assume done.*repeatable/,
    );
    await expect(failed).rejects.toThrow(error.message);
    await expect((await world.begin()).run(world.own(charge))).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
    });
    expect(charge).toHaveBeenCalledTimes(1);
  });

  test("is run again when it is repeatable", async () => {
    const failing = world.own(() => Promise.reject(error), { repeatable: true });
    await expect((await world.begin()).run(failing)).rejects.toBe(error);
    const again = world.own(() => 42, { repeatable: true });
    expect(await (await world.begin()).run(again)).toBe(42);
  });
});

test.each<[string, Error]>([
  ["an error of its own", new Error("no such customer")],
  ["a refusal", new Error("refused", { cause: new ApiError("no", { status: 400 }) })],
  [
    "the platform's own 503",
    new ApiError("busy", { status: 503, platformCode: "NOT_CONFIGURED", hasErrorBody: true }),
  ],
  [
    "a fetch of one's own that never connected",
    Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
  ],
  ["no connection", new NetworkError("API_UNREACHABLE", "down", { sent: false })],
])("a step that cannot be looked for runs again after %s", async (_name, error) => {
  const failing = world.own(() => Promise.reject(error));
  await expect((await world.begin()).run(failing)).rejects.toBe(error);
  expect(await (await world.begin()).run(world.own(() => 42))).toBe(42);
});

test("what was aborted is for the next run to judge", async () => {
  const abort = new AbortController();
  const reason = new ServiceBotError("HANDLER_TIMEOUT", "too long");
  const steps = await world.begin(abort.signal);
  const run = () => {
    abort.abort(reason);
    return Promise.reject(new DOMException("aborted", "AbortError"));
  };
  await expect(steps.run(world.own(run))).rejects.toMatchObject({ name: "AbortError" });
  await expect((await world.begin()).run(world.own(run))).rejects.toThrow("The previous run");
});

describe("after an answer, no call is under way", () => {
  const failing = (error: Error, name = "reply/1") =>
    world.reply(name, "hi", { run: () => Promise.reject(error) });
  const postponed = { code: "RETRY_LATER", counts: false };

  test.each<[string, Error]>([
    ["500", new ApiError("oops", { status: 500 })],
    ["408", new ApiError("too slow", { status: 408 })],
    ["a success that calls itself a failure", new ApiError("oops", { status: 200 })],
    [
      "a refusal because of a failure before",
      new ApiError("stale", { status: 400, cause: new ApiError("away", { status: 500 }) }),
    ],
    ["one that cannot be read", new ServiceBotError("API_INVALID_RESPONSE", "not JSON")],
  ])("after %s, so the next run reconciles without a wait", async (_name, error) => {
    const run = () => {
      world.send("hi");
      return Promise.reject(error);
    };
    await expect((await world.begin()).run(world.reply("reply/1", "hi", { run }))).rejects.toBe(
      error,
    );
    expect(await (await world.again()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    await expect((await world.begin()).run(failing(error, "reply/2"))).rejects.toBe(error);
    expect(await (await world.again()).run(world.reply("reply/2", "hi"))).toBe("m_2");
    expect(world.platform.size).toBe(2);
  });

  test.each([502, 503, 504])(
    "but a gateway's %i does not say what the platform does",
    async (status) => {
      const error = new ApiError("gateway", { status });
      await expect((await world.begin()).run(failing(error))).rejects.toBe(error);
      const next = await world.again();
      await expect(next.run(world.reply("reply/1", "hi"))).rejects.toMatchObject(postponed);
    },
  );

  test("unknown to a new process", async () => {
    const error = new ApiError("oops", { status: 500 });
    await expect((await world.begin()).run(failing(error))).rejects.toBe(error);
    const next = await world.handOver();
    await expect(next.run(world.reply("reply/1", "hi"))).rejects.toMatchObject(postponed);
  });

  test("until it is called anew", async () => {
    const error = new ApiError("oops", { status: 500 });
    await expect((await world.begin()).run(failing(error))).rejects.toBe(error);
    await expect((await world.again()).run(failing(broke))).rejects.toBe(broke);
    const next = await world.again();
    await expect(next.run(world.reply("reply/1", "hi"))).rejects.toMatchObject(postponed);
  });
});

describe("a store that is away for a moment", () => {
  const away = new ServiceBotError("STORE_UNAVAILABLE", "the disk is full");

  test("does not make a step that succeeded uncertain", async () => {
    const finish = vi.spyOn(world.inbox, "finishStep");
    for (let i = 0; i < 3; i++) finish.mockRejectedValueOnce(away);
    const charge = vi.fn(() => "charged");
    const running = (await world.begin()).run(world.own(charge));
    await world.clock.advance(20_000);
    expect(await running).toBe("charged");
    expect(await (await world.handOver()).run(world.own(charge))).toBe("charged");
    expect(charge).toHaveBeenCalledTimes(1);
  });

  test("does not make a step that did nothing uncertain", async () => {
    vi.spyOn(world.inbox, "dropStep").mockRejectedValueOnce(away);
    const error = new Error("no such customer");
    const running = (await world.begin()).run(world.own(() => Promise.reject(error)));
    const failed = expect(running).rejects.toBe(error);
    await world.clock.advance(20_000);
    await failed;
    expect(await (await world.handOver()).run(world.own(() => 42))).toBe(42);
  });

  test("is waited for about a minute, in 20 tries", async () => {
    const finish = vi.spyOn(world.inbox, "finishStep").mockRejectedValue(away);
    const failed = expect((await world.begin()).run(world.own(() => 1))).rejects.toBe(away);
    await world.clock.advance(100_000);
    await failed;
    expect(finish).toHaveBeenCalledTimes(20);
  });

  test("is not waited for once the run is aborted", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.999);
    const finish = vi.spyOn(world.inbox, "finishStep").mockRejectedValue(away);
    const abort = new AbortController();
    const steps = await world.begin(abort.signal);
    const failed = expect(steps.run(world.own(() => 1))).rejects.toBe(away);
    await world.underWay();
    abort.abort();
    await failed;
    expect(finish).toHaveBeenCalledTimes(2);
  });

  test("is not waited for once the lease is lost", async () => {
    const finish = vi.spyOn(world.inbox, "finishStep");
    const steps = await world.begin();
    const gone = { run: async () => ({ result: void (await world.begin()) }) };
    await expect(steps.run(world.own(() => undefined, gone))).rejects.toMatchObject({
      code: "LEASE_LOST",
    });
    expect(finish).toHaveBeenCalledTimes(1);
  });
});

test("a step that the process died in is not blamed on the step", async () => {
  void (await world.begin()).run(world.own(() => 1, died));
  await world.underWay();
  await expect((await world.begin()).run(world.own(() => 1))).rejects.toThrow(
    /The previous run ended during the step "charge"/,
  );
});

test.each(Object.entries(unreadable))(
  "an error with %s below says what it says",
  (_name, value) => {
    for (const error of [broke, reset]) {
      const around = new Error("around", { cause: error });
      Object.defineProperty(error, "cause", { value: value(), configurable: true });
      expect(effectCertainty(around)).toBe("in flight");
      Reflect.deleteProperty(error, "cause");
    }
    expect(effectCertainty(new Error("own", { cause: value() }))).toBe("absent");
  },
);
