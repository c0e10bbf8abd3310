import { describe, expect, test } from "vitest";
import type { FaultsState, Platform } from "../../faces/platform.ts";
import { runPlatform } from "../support/platform.ts";
import {
  activeFault,
  type Control,
  changeOf,
  heldBack,
  isMachineTime,
  isRefused,
  limitNames,
  type ModeInfo,
  modes,
  noFaults,
  offsetAt,
  type Situation,
  scenarios,
  shownTime,
  targets,
  usage,
  Values,
} from "./face.ts";

const none: FaultsState = {
  webhook: { mode: "none", status: 500, delayMs: 1_000 },
  api: { mode: "none", match: "all", status: 503, delayMs: 3_000, held: 0 },
  events: { mode: "none", lateMs: 0, held: 0 },
};

/** Values of a form, as they are typed. */
function typed(fields: Readonly<Record<string, string>>): Values {
  const values = new Values();
  for (const [name, value] of Object.entries(fields)) values.set(name, value);
  return values;
}

describe("the form", () => {
  const everyMode = targets.flatMap((target) => {
    return modes[target].map((info) => [target, info.mode, info] as const);
  });
  const infoOf = (target: "webhook" | "api", mode: string) =>
    modes[target].find((info) => info.mode === mode) as ModeInfo;

  test.each(everyMode)("the platform takes the fields of %s %s", async (target, mode, info) => {
    const platform = await runPlatform();
    const first = (info.fields ?? []).map(({ name, value = "", options }) => [
      name,
      options?.[0]?.value ?? value,
    ]);
    const values = typed({ ...Object.fromEntries(first), share: "30", times: "3" });
    const state = platform.control.setFaults(changeOf(target, info, values));
    expect(state[target]).toMatchObject({ mode, rate: 0.3, times: 3 });
  });

  test("every mode of the platform can be chosen", () => {
    const offered = Object.fromEntries(targets.map((name) => [name, modes[name].length]));
    expect(offered).toEqual({ webhook: 7, api: 6, events: 3 });
  });

  test("empty fields and fields of other modes are left out", () => {
    const values = typed({ status: "418", match: "write", times: "", share: "" });
    expect(changeOf("webhook", infoOf("webhook", "twice"), values)).toEqual({
      webhook: { mode: "twice" },
    });
    expect(changeOf("webhook", infoOf("webhook", "status"), values)).toEqual({
      webhook: { mode: "status", status: 418 },
    });
    expect(changeOf("api", infoOf("api", "gateway"), values)).toEqual({
      api: { mode: "gateway", status: 418, match: "write" },
    });
  });
});

describe("scenarios", () => {
  const all = Object.values(scenarios).flat();

  const situation = ({ faults, storage, apps }: Platform["control"]): Situation => {
    const [app] = apps.list();
    if (app === undefined) throw new Error("The platform has no app");
    return { faults, hasStorage: storage.configured, app };
  };

  /** The requests of a scenario, without HTTP. */
  const requestsOf = (control: Platform["control"]): Control => ({
    setFaults: async (change) => control.setFaults(change),
    saveWebhook: async (change) => control.saveWebhook(change),
    setStorage: async (state) => control.setStorage(state),
    setApp: async (username, change) => control.apps.set(username, change),
    tokens: async () => ({ items: control.apps.tokens() }),
    revokeToken: async (id) => {
      control.apps.revokeToken(id);
      return { id };
    },
  });

  test.each(all)("$title is active from its start to its end", async (scenario) => {
    const { start, stop, isActive } = scenario;
    const { control } = await runPlatform();
    control.saveWebhook({ url: "http://127.0.0.1:9/webhook", enabled: true });
    const requests = requestsOf(control);
    expect(isActive(situation(control))).toBe(false);
    await start(requests, situation(control));
    const active = all.filter((each) => each.isActive(situation(control)));
    expect(active).toEqual([scenario]);
    await stop?.(requests, situation(control));
    expect(isActive(situation(control))).toBe(stop === undefined);
  });

  test("the end of every fault ends those of each part", async () => {
    const { control } = await runPlatform();
    control.setFaults({
      webhook: { mode: "twice" },
      api: { mode: "mix" },
      events: { mode: "own" },
    });
    const faults = control.setFaults(noFaults);
    expect(targets.map((target) => faults[target].mode)).toEqual(["none", "none", "none"]);
  });

  test("have keys of their own, and none of every view", () => {
    const keys = all.flatMap(({ key }) => key ?? []);
    expect(new Set(keys).size).toBe(keys.length);
    // The first one is that of every view.
    expect(keys.slice(1).filter((key) => "12345?dmrfwo".includes(key))).toEqual([]);
  });
});

describe("what goes wrong now", () => {
  test.each([
    [{ mode: "status", times: 2 }, "fail: status 500, 2 left"],
    [{ mode: "twice", rate: 0.255 }, "arrive twice: 25.5 % of them, until stopped"],
    [{ mode: "delay", delayMs: 90_000 }, "are late: by 1 min 30 s, until"],
    [{ mode: "delay", delayMs: 20 }, "are late: by 20 ms"],
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
    expect(activeFault("api", faults)).toBe(
      "are refused: status 429, Retry-After 2 s, writes only, 3 left",
    );
    const slow: FaultsState = { ...none, api: { ...none.api, mode: "slow" } };
    expect(activeFault("api", slow)).toBe("are slow: by 3 s, until stopped");
    expect(activeFault("events", faults)).toContain(": by 3 s, until stopped");
    expect(heldBack("api", faults)).toContain("1 held");
    expect(heldBack("events", faults)).toContain("2 not in the log yet");
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
});
