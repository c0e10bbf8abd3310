import { describe, expect, test } from "vitest";
import { Bot } from "../../src/index.ts";
import { LoopHeld } from "../faces/errors.ts";
import { type AnyEvent, defaultLane, type LaneOf } from "../faces/events.ts";
import { Handlers, LoopGuard, type LoopGuardOptions, Router, routesOf } from "../faces/router.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { type FakeSteps, fakeClient, jobFor } from "./support.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const MINUTE = 60_000;

interface Written {
  readonly by?: string;
  readonly conversationId?: string;
  /** Time in ms relative to {@link NOW}. Negative if earlier. */
  readonly atMs?: number;
  readonly createdAt?: string;
}

class Scene {
  now = NOW;
  laneOf: LaneOf = defaultLane;
  readonly #sink = logSink();
  readonly #guard: LoopGuard;
  #written = 0;

  constructor(options: LoopGuardOptions = { answers: 3 }) {
    this.#guard = new LoopGuard(options, {
      platformClock: { now: () => this.now },
      laneOf: (event) => this.laneOf(event),
    });
  }

  get warnings(): number {
    return this.#sink.records.filter(({ level }) => level === "warn").length;
  }

  message({ by = "ada", conversationId = "c_1", atMs = this.now - NOW, createdAt }: Written = {}) {
    const from = { userId: "u_1", username: by, name: by };
    const { event } = jobFor("dm.message", { from, conversationId });
    this.#written += 1;
    const date = createdAt ?? new Date(NOW + atMs).toISOString();
    return { ...event, id: `evt_${this.#written}`, createdAt: date };
  }

  /** Returns by how many ms an event is delayed, or 0. */
  wait(event: AnyEvent): number {
    try {
      this.#guard.check({ event, log: this.#sink.log });
      return 0;
    } catch (error) {
      if (error instanceof LoopHeld) return error.delayMs;
      throw error;
    }
  }

  noteAnswer(event: AnyEvent, { isPost = false } = {}): void {
    this.#guard.noteAnswer(event, { isPost });
  }

  exchange(written?: Written): number {
    const event = this.message(written);
    const wait = this.wait(event);
    if (wait === 0) this.noteAnswer(event);
    return wait;
  }
}

describe("the loop guard", () => {
  test("holds back the event after the last permitted answer, until the oldest one leaves the window", () => {
    const scene = new Scene();
    for (const atMs of [0, 1_000, 2_000]) {
      scene.now = NOW + atMs;
      expect(scene.exchange()).toBe(0);
    }
    expect(scene.exchange()).toBe(MINUTE - 2_000);
    scene.now = NOW + MINUTE;
    expect(scene.exchange()).toBe(0);
    expect(scene.exchange()).toBe(1_000);
  });

  test("lets other users and other conversations through", () => {
    const scene = new Scene({ answers: 1 });
    scene.exchange();
    expect(scene.exchange()).toBe(MINUTE);
    expect(scene.exchange({ by: "ben" })).toBe(0);
    expect(scene.exchange({ conversationId: "c_2" })).toBe(0);
    expect(scene.exchange({ by: "Ada" })).toBe(MINUTE);
  });

  test("does not slow a bot that finds the messages of an hour", () => {
    const scene = new Scene({});
    const hour = Array.from({ length: 120 }, (_, n) =>
      scene.exchange({ atMs: (n - 120) * 30_000 }),
    );
    expect(new Set(hour)).toEqual(new Set([0]));
  });

  test("counts several answers to one event once, and lets the event of a retry through", () => {
    const scene = new Scene({ answers: 2 });
    const event = scene.message();
    for (let n = 0; n < 5; n++) scene.noteAnswer(event);
    expect(scene.exchange()).toBe(0);
    expect(scene.wait(event)).toBe(0);
    expect(scene.exchange()).toBe(MINUTE);
  });

  test.each(["", "tomorrow", "2099-01-01T00:00:00Z"])(
    "goes by the time of the answer where createdAt is %j",
    (createdAt) => {
      const scene = new Scene({ answers: 1 });
      scene.exchange({ createdAt });
      expect(scene.exchange({ createdAt })).toBe(MINUTE);
    },
  );

  test("warns once while two bots go on, and again after a calm time", () => {
    const scene = new Scene({ answers: 2 });
    for (let second = 0; second < 3_600; second += 10) {
      scene.now = NOW + second * 1_000;
      scene.exchange();
    }
    expect(scene.warnings).toBe(1);
    scene.now += 60 * MINUTE;
    for (let n = 0; n < 5; n++) scene.exchange();
    expect(scene.warnings).toBe(2);
  });

  test("keeps to its rate while another bot answers twice each time", () => {
    const scene = new Scene({ answers: 3 });
    const backlog = [scene.message()];
    const answeredAt: number[] = [];
    for (let second = 0; second < 3_600; second++) {
      scene.now = NOW + second * 1_000;
      const [event] = backlog;
      if (event === undefined || scene.wait(event) > 0) continue;
      scene.noteAnswer(event);
      answeredAt.push(second);
      backlog.shift();
      backlog.push(scene.message(), scene.message());
    }
    expect(answeredAt).toHaveLength(180);
    const fastest = answeredAt.slice(3).map((at, n) => at - (answeredAt[n] ?? 0));
    expect(Math.min(...fastest)).toBeGreaterThanOrEqual(60);
  });

  test("counts posts for the account, because each is a place of its own", () => {
    const scene = new Scene({ answers: 3 });
    const waits = Array.from({ length: 4 }, (_, n) => {
      const event = scene.message({ conversationId: `c_${n}` });
      const wait = scene.wait(event);
      if (wait === 0) scene.noteAnswer(event, { isPost: true });
      return wait;
    });
    expect(waits).toEqual([0, 0, 0, MINUTE]);
    expect(scene.wait(scene.message({ by: "ben" }))).toBe(0);
  });

  test("lets an event in a lane of the bot's own choice wait for one answer, at the same rate", () => {
    const scene = new Scene({ answers: 3 });
    scene.laneOf = () => "all";
    for (let n = 0; n < 3; n++) expect(scene.exchange()).toBe(0);
    for (let n = 0; n < 10; n++) {
      expect(scene.exchange()).toBe(MINUTE / 3);
      scene.now += MINUTE / 3;
      expect(scene.exchange()).toBe(0);
    }
    expect(scene.warnings).toBe(1);
  });

  test("takes the largest number of answers", () => {
    const scene = new Scene({ answers: 10_000 });
    const event = scene.message();
    for (let n = 0; n < 10_000; n++) scene.noteAnswer({ ...event, id: `evt_answered_${n}` });
    expect(scene.exchange()).toBe(MINUTE);
  });

  test("lets an event without an account through", () => {
    const scene = new Scene({ answers: 1 });
    const { event } = jobFor("poll.closed", {});
    scene.noteAnswer(event);
    scene.noteAnswer({ ...event, id: "evt_other" });
    expect(scene.wait({ ...event, id: "evt_third" })).toBe(0);
  });
});

test("replies of a run count for their conversation, posts for the account", async () => {
  const { client } = fakeClient();
  const router = new Router();
  router.on("dm.message", (ctx) => ctx.reply("hi"));
  router.on("mention", (ctx) => ctx.post("hi"));
  // The bot's clock is a year ahead, but the guard uses the platform's time.
  const clock = new ManualClock(NOW + 365 * 86_400_000);
  const handling = new Handlers({
    routes: routesOf(router),
    client,
    clock,
    loopGuard: { answers: 1 },
  });
  let written = 0;
  const isHeld = async (type: string, payload: object, outcome: FakeSteps["outcome"] = "made") => {
    const { event, ...job } = jobFor(type, { ...payload });
    job.steps.outcome = outcome;
    written += 1;
    const run = handling.begin({ ...job, event: { ...event, id: `evt_${written}` } });
    try {
      await run.run();
      return false;
    } catch (error) {
      return error instanceof LoopHeld;
    }
  };
  expect(await isHeld("dm.message", { conversationId: "c_1" })).toBe(false);
  expect(await isHeld("dm.message", { conversationId: "c_2" })).toBe(false);
  expect(await isHeld("dm.message", { conversationId: "c_1" })).toBe(true);
  // A recorded reply has been counted already. A reply found on the platform has not.
  expect(await isHeld("dm.message", { conversationId: "5" }, "recorded")).toBe(false);
  expect(await isHeld("dm.message", { conversationId: "5" }, "found")).toBe(false);
  expect(await isHeld("dm.message", { conversationId: "5" })).toBe(true);
  expect(await isHeld("mention", { entityId: "p_1", postId: "p_1" })).toBe(false);
  expect(await isHeld("mention", { entityId: "p_2", postId: "p_2" })).toBe(true);
});

test.each([{ answers: 0 }, { answers: 10_001 }, { answers: 1.5 }, { perMs: 0 }])(
  "a bot refuses loopGuard %j",
  (loopGuard) => {
    expect(() => new Bot({ loopGuard })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  },
);
