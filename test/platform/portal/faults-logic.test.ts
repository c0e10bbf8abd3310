import { describe, expect, test } from "vitest";
import type { FaultsState } from "../../faces/platform.ts";
import { runPlatform } from "../support/platform.ts";
import {
  activeFault,
  changeOf,
  endOf,
  heldBack,
  isActive,
  isMachineTime,
  isRefused,
  limitNames,
  modes,
  newDraft,
  nothingWrong,
  offsetAt,
  scenarios,
  shownTime,
  targets,
  typedLimit,
  typedTime,
  usage,
} from "./face.ts";

const none: FaultsState = {
  webhook: { mode: "none", status: 500, delayMs: 1_000 },
  api: { mode: "none", match: "all", status: 503, delayMs: 3_000, held: 0 },
  events: { mode: "none", lateMs: 0, held: 0 },
};

describe("the forms", () => {
  const everyMode = targets.flatMap((target) => {
    return modes[target].map(({ value }) => [target, value] as const);
  });

  test.each(everyMode)("the platform takes what is typed for %s %s", async (target, mode) => {
    const platform = await runPlatform();
    const draft = { ...newDraft(target), mode, share: "30", times: "3", retryAfter: "2" };
    const change = changeOf(target, draft);
    expect(platform.control.setFaults(change)[target]).toMatchObject({ mode, rate: 0.3, times: 3 });
  });

  test("every mode of the platform can be chosen", () => {
    const offered = Object.fromEntries(targets.map((name) => [name, modes[name].length]));
    expect(offered).toEqual({ webhook: 7, api: 6, events: 3 });
  });

  test("what a mode does not have is left out, and so is what is empty", () => {
    const draft = { ...newDraft("webhook"), status: "418", times: "", share: "100" };
    expect(changeOf("webhook", draft)).toEqual({ webhook: { mode: "status", status: 418 } });
    expect(changeOf("webhook", { ...draft, mode: "twice" })).toEqual({
      webhook: { mode: "twice" },
    });
    expect(changeOf("events", { ...newDraft("events"), delay: "0.5" })).toEqual({
      events: { mode: "late", lateMs: 500, times: 1 },
    });
    expect(changeOf("api", { ...newDraft("api"), match: "write", times: "" })).toEqual({
      api: { mode: "status", status: 503, match: "write" },
    });
  });

  test.each([
    [{ status: "200" }, "The status must be a whole number from 300 to 599."],
    [{ status: "500.5" }, "The status must be"],
    [{ times: "0" }, "How many must be"],
    [{ share: "101" }, "The share must be a number from 0.1 to 100."],
    [{ mode: "delay" as const, delay: "" }, "Say how late"],
    [{ mode: "delay" as const, delay: "soon" }, "The delay must be"],
  ])("%j is refused with what it can be", (more, message) => {
    expect(() => changeOf("webhook", { ...newDraft("webhook"), ...more })).toThrow(message);
  });
});

test.each(scenarios)("the platform takes the scenario: $title", async (scenario) => {
  const { control } = await runPlatform();
  const { change } = scenario;
  expect(isActive(scenario, control.faults)).toBe(false);
  expect(isActive(scenario, control.setFaults(change))).toBe(true);
  expect(isActive(scenario, control.setFaults(endOf(scenario)))).toBe(false);
  control.setFaults(change);
  expect(isActive(scenario, control.setFaults(nothingWrong))).toBe(false);
});

test("no scenario has a key of every view, nor that of another one", () => {
  const keys = scenarios.flatMap(({ key }) => key ?? []);
  expect(new Set(keys).size).toBe(keys.length);
  // The first one is that of every view.
  expect(keys.slice(1).filter((key) => "12345?dmrfwo".includes(key))).toEqual([]);
});

describe("what goes wrong now", () => {
  test.each([
    [{ mode: "status", times: 2 }, "fail with 500, 2 left"],
    [{ mode: "twice", rate: 0.255 }, "arrive twice, 25.5 % of them, until stopped"],
    [{ mode: "delay", delayMs: 90_000 }, "are late by 1 min 30 s, until"],
    [{ mode: "delay", delayMs: 20 }, "are late by 20 ms"],
  ] as const)("of deliveries: %j", (fault, text) => {
    const webhook = { ...none.webhook, ...fault };
    expect(activeFault("webhook", { ...none, webhook })).toContain(text);
  });

  test("of requests and events, with what is held", () => {
    const faults: FaultsState = {
      ...none,
      api: {
        ...none.api,
        ...{ mode: "status", match: "write", status: 429, retryAfterSeconds: 2, times: 3, held: 1 },
      },
      events: { mode: "late", lateMs: 3_000, held: 2 },
    };
    expect(activeFault("api", faults)).toBe("get 429, Retry-After 2 s, writes only, 3 left");
    const slow: FaultsState = { ...none, api: { ...none.api, mode: "slow" } };
    expect(activeFault("api", slow)).toBe("take 3 s longer, until stopped");
    expect(activeFault("events", faults)).toBe("are late by 3 s, until stopped");
    expect(heldBack("api", faults)).toContain("1 held");
    expect(heldBack("events", faults)).toContain("2 still to come");
  });

  test("nothing, where all goes as usual", () => {
    expect(targets.map((target) => activeFault(target, none))).toEqual(Array.from({ length: 3 }));
    expect(targets.map((target) => heldBack(target, none))).toEqual(Array.from({ length: 3 }));
  });
});

describe("the clock", () => {
  const at = (view: object) => ({
    view: { now: "2030-01-01T00:00:00.000Z", offsetMs: 60_000, frozen: false, ...view },
    readAt: 1_000,
  });
  const start = Date.parse("2030-01-01T00:00:00.000Z");

  test("goes on by itself, with the same offset", () => {
    expect(shownTime(at({}), 6_000)).toBe(start + 5_000);
    expect(offsetAt(at({}), 6_000)).toBe(60_000);
  });

  test("stands still while it is frozen, and falls behind", () => {
    const frozen = at({ frozen: true });
    expect(shownTime(frozen, 6_000)).toBe(start);
    expect(offsetAt(frozen, 6_000)).toBe(55_000);
  });

  test("is refused by bots more than 300 s ahead or behind", () => {
    expect([300_000, -300_000].map(isRefused)).toEqual([false, false]);
    expect([300_001, -300_001].map(isRefused)).toEqual([true, true]);
    expect([5, -5, 1_000].map(isMachineTime)).toEqual([true, true, false]);
  });

  test("is set to what is typed, in UTC", () => {
    expect(typedTime("2030-01-31T23:59")).toBe("2030-01-31T23:59:00.000Z");
    expect(() => typedTime("")).toThrow("Type a date");
  });
});

describe("limits", () => {
  test("every limit of the platform is shown", async () => {
    const { control } = await runPlatform();
    expect([...limitNames].sort()).toEqual(Object.keys(control.limits).sort());
  });

  test("what is used is said with the limit, if there is one", () => {
    const view = { limit: 5, used: 3, resetsAt: "" };
    expect(usage(view)).toBe("3 of 5 used");
    expect(usage({ ...view, used: 5 })).toBe("5 of 5 used");
    expect(usage({ ...view, limit: null })).toBe("3 used, no limit");
  });

  test("a limit is a whole number from 0 to 1,000,000", () => {
    expect([typedLimit("0"), typedLimit("1000000")]).toEqual([0, 1_000_000]);
    for (const typed of ["", "-1", "1.5", "many", "1000001"]) {
      expect(() => typedLimit(typed)).toThrow("whole number");
    }
  });
});
