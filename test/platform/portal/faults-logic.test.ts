import { describe, expect, test } from "vitest";
import type { FaultsState } from "../../faces/platform.ts";
import { runPlatform } from "../support/platform.ts";
import {
  activeFault,
  changeOf,
  deliveries,
  describeHeld,
  endOf,
  fieldsOf,
  isActive,
  isMachineTime,
  isRefused,
  limitNames,
  noFaults,
  offsetAt,
  requests,
  targets,
  toPlatformTime,
  usage,
  Values,
} from "./face.ts";

const none: FaultsState = {
  webhook: { mode: "none", status: 500, delayMs: 1_000 },
  api: { mode: "none", match: "all", status: 503, delayMs: 3_000, held: 0 },
  events: { mode: "none", lateMs: 0, held: 0 },
};

const all = [...deliveries, ...requests];

function valuesOf(fields: ReturnType<typeof fieldsOf>): Values {
  const values = new Values();
  for (const { name, value, options } of fields) {
    values.set(name, options?.[0]?.value ?? value ?? "");
  }
  return values;
}

describe("scenarios", () => {
  test.each(all)(
    "the platform accepts: $title, which is then the only active one",
    async (scenario) => {
      const { control } = await runPlatform();
      const change = changeOf(scenario, valuesOf(fieldsOf(scenario)));
      expect(change).toEqual(scenario.change);
      const now = control.setFaults(change);
      expect(all.filter((each) => isActive(each, now))).toEqual([scenario]);
      const texts = targets.map((target) => activeFault(target, now)).filter(Boolean);
      expect(texts).toEqual([expect.stringContaining(`${scenario.title}: `)]);
      expect(isActive(scenario, control.setFaults(endOf(scenario)))).toBe(false);
      control.setFaults(change);
      expect(isActive(scenario, control.setFaults(noFaults))).toBe(false);
    },
  );

  test("exist for each of the platform's modes", () => {
    const modes = new Set(
      all
        .flatMap(({ change }) => Object.entries(change))
        .map(([target, { mode }]) => `${target} ${mode}`),
    );
    // The number of modes in src/platform/control/schemas.ts.
    expect(modes.size).toBe(7 + 6 + 3);
  });

  test("have the fields of their mode, the count and the rate; empty fields are left out", () => {
    const broken = all.find(({ key }) => key === "x");
    const random = all.find(({ key }) => key === "y");
    if (broken === undefined || random === undefined) throw new Error("no such scenario");
    expect(fieldsOf(broken).map(({ name }) => name)).toEqual(["status", "times", "rate"]);
    const values = valuesOf(fieldsOf(broken));
    values.set("status", "418");
    values.set("match", "write");
    expect(changeOf(broken, values)).toEqual({ webhook: { mode: "status", status: 418 } });
    expect(fieldsOf(random).find(({ name }) => name === "rate")?.value).toBe("30");
  });

  test("have their own keys, which differ from those of every view", () => {
    const keys = all.flatMap(({ key }) => key ?? []);
    expect(new Set(keys).size).toBe(keys.length);
    // The first scenario's key works in every view.
    expect(keys.slice(1).filter((key) => "123456?dmrfwo".includes(key))).toEqual([]);
  });
});

describe("the current faults", () => {
  test.each([
    [{ mode: "status", times: 2 }, "The next delivery fails: status 500, 2 left"],
    [{ mode: "twice", rate: 0.255 }, "Deliveries arrive twice: 25.5 % of them, until stopped"],
    [{ mode: "delay", delayMs: 90_000 }, "Deliveries are late: 1 min 30 s, until"],
    [{ mode: "delay", delayMs: 20 }, "Deliveries are late: 20 ms"],
  ] as const)("in deliveries: %j", (fault, text) => {
    const webhook = { ...none.webhook, ...fault };
    expect(activeFault("webhook", { ...none, webhook })).toContain(text);
  });

  test("in requests and events, with the held requests", () => {
    const faults: FaultsState = {
      ...none,
      api: {
        ...none.api,
        mode: "status",
        match: "write",
        status: 429,
        retryAfterSeconds: 2,
        times: 3,
        held: 1,
      },
      events: { mode: "late", lateMs: 3_000, held: 2 },
    };
    expect(activeFault("api", faults)).toBe(
      "The next API requests are refused: status 429, Retry-After 2 s, writes only, 3 left",
    );
    const slow: FaultsState = { ...none, api: { ...none.api, mode: "slow" } };
    expect(activeFault("api", slow)).toBe("The API is slow: 3 s, until stopped");
    expect(activeFault("events", faults)).toContain(
      "Events enter the log late: 3 s, until stopped",
    );
    expect(describeHeld("api", faults)).toContain("Held requests: 1");
    expect(describeHeld("events", faults)).toContain("Events not in the log yet: 2");
  });

  test("none, if everything works as usual", () => {
    expect(targets.map((target) => activeFault(target, none))).toEqual(Array.from({ length: 3 }));
    expect(targets.map((target) => describeHeld(target, none))).toEqual(Array.from({ length: 3 }));
  });
});

describe("the clock", () => {
  const at = (view: object) => ({
    view: { now: "2030-01-01T00:00:00.000Z", offsetMs: 60_000, frozen: false, ...view },
    readAt: 1_000,
  });
  const start = Date.parse("2030-01-01T00:00:00.000Z");

  test("continues on its own, with the same offset", () => {
    expect(toPlatformTime(at({}), 6_000)).toBe(start + 5_000);
    expect(offsetAt(at({}), 6_000)).toBe(60_000);
  });

  test("stands still while it is frozen, and falls behind", () => {
    const frozen = at({ frozen: true });
    expect(toPlatformTime(frozen, 6_000)).toBe(start);
    expect(offsetAt(frozen, 6_000)).toBe(55_000);
  });

  test("is rejected by bots if more than 300 s ahead or behind", () => {
    expect([300_000, -300_000].map(isRefused)).toEqual([false, false]);
    expect([300_001, -300_001].map(isRefused)).toEqual([true, true]);
    expect([5, -5, 1_000].map(isMachineTime)).toEqual([true, true, false]);
  });
});

describe("limits", () => {
  test("each of the platform's limits is shown", async () => {
    const { control } = await runPlatform();
    expect([...limitNames].sort()).toEqual(Object.keys(control.limits).sort());
  });

  test("usage is shown with its limit, if there is one", () => {
    const view = { limit: 5, used: 3, resetsAt: "" };
    expect(usage(view)).toBe("3 of 5 used");
    expect(usage({ ...view, used: 5 })).toBe("5 of 5 used");
    expect(usage({ ...view, limit: null })).toBe("3 used, no limit");
  });
});
