import { describe, expect, test } from "vitest";
import {
  type FoundEvent,
  initialMode,
  type ModeState,
  type ModeStep,
  nextDeadline,
  type Observation,
  observe,
} from "../faces/poller.ts";

const SILENCE = 45_000;
const T0 = 1_800_000_000_000;

class Machine {
  state: ModeState;
  now = T0;
  switches: NonNullable<ModeStep["switched"]>[] = [];

  constructor(types: readonly string[] = ["dm.message"]) {
    this.state = initialMode(new Set(types));
  }

  observe(observation: Observation): this {
    const { state, switched } = observe(this.state, observation, SILENCE);
    this.state = state;
    if (switched !== undefined) this.switches.push(switched);
    return this;
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }

  round(found: readonly FoundEvent[] = [], resumed = false): this {
    // With a resume time in the future, the events found count as made before the start.
    const resumedAt = resumed ? this.now + 1 : undefined;
    return this.observe({ kind: "round", now: this.now, found, resumedAt });
  }

  delivery(...ids: readonly string[]): this {
    const events = ids.map((id) => ({ id, type: "dm.message" }));
    return this.observe({ kind: "delivery", now: this.now, events });
  }

  tick(): this {
    return this.observe({ kind: "tick", now: this.now });
  }

  /** Finds an event in the log that the webhook does not deliver in time. */
  misses(id: string, type?: string): this {
    return this.round([this.event(id, type)])
      .after(SILENCE + 1)
      .tick();
  }

  event(id: string, type = "dm.message"): FoundEvent {
    return { id, type, at: this.now };
  }
}

describe("own deliveries", () => {
  const own = (id: string) => ({ id, type: "order.paid" });

  test("do not hide that the platform's webhook is silent", () => {
    const machine = new Machine([]);
    const deliver = (id: string) =>
      machine.observe({ kind: "delivery", now: machine.now, events: [own(id)] });
    deliver("order:1");
    machine.round([machine.event("evt_1")]);
    deliver("order:2")
      .after(SILENCE + 1)
      .tick();
    expect(machine.switches).toMatchObject([{ to: "polling" }]);
  });

  test("of earlier processes do not, either", () => {
    const machine = new Machine(["order.paid"]);
    machine.misses("evt_1");
    expect(machine.switches).toMatchObject([{ to: "polling" }]);
  });

  test("do not end polling, and repeated ones do not begin it anew", () => {
    const machine = new Machine();
    machine.round([machine.event("evt_1")], true);
    expect(machine.state.mode).toBe("polling");
    for (let round = 0; round < 5; round++) {
      machine.observe({ kind: "delivery", now: machine.now, events: [own(`order:${round}`)] });
      machine.after(SILENCE + 1).round();
    }
    expect(machine.state.mode).toBe("polling");
    machine.delivery("evt_2").after(SILENCE + 1);
    machine.observe({ kind: "delivery", now: machine.now, events: [own("order:4")] });
    expect(machine.after(1).round().round().state.mode).toBe("auditing");
  });

  test("beside the platform's events in one delivery leave these as they are", () => {
    const machine = new Machine([]);
    const events = [own("order:1"), { id: "evt_1", type: "mention" }];
    machine.observe({ kind: "delivery", now: machine.now, events });
    expect([...machine.state.webhookTypes]).toEqual(["mention"]);
  });

  test("need not be in the log, and their types are never missing there", () => {
    const machine = new Machine(["dm.message", "order.paid"]);
    machine.round([{ ...machine.event("evt_1"), type: "order.paid" }]);
    expect(machine.after(SILENCE + 1).tick().switches).toEqual([]);
  });
});

describe("auditing", () => {
  test("is the initial mode", () => {
    expect(new Machine().state.mode).toBe("auditing");
  });

  test("continues for days without traffic", () => {
    const machine = new Machine();
    for (let minute = 0; minute < 60 * 24 * 60; minute++) machine.after(60_000).round().tick();
    expect(machine.switches).toEqual([]);
    expect(machine.state.unconfirmed).toEqual([]);
  });

  test("continues when the webhook delivers an event after the log", () => {
    const machine = new Machine();
    machine
      .round([machine.event("1")])
      .after(30_000)
      .delivery("1")
      .after(60_000)
      .round()
      .tick();
    expect(machine.state.mode).toBe("auditing");
  });

  test("auditing ends if the webhook does not deliver an event in time, even between two rounds", () => {
    const machine = new Machine();
    machine
      .round([machine.event("1")])
      .after(SILENCE)
      .tick();
    expect(machine.state.mode).toBe("auditing");
    machine.after(1).tick();
    expect(machine.switches).toMatchObject([{ to: "polling" }]);
    expect(machine.switches[0]?.reason).toContain("1 event");
  });

  test("ends within two polls for an event that is already overdue when it is found", () => {
    const machine = new Machine();
    const event = machine.event("1");
    machine.after(SILENCE + 1).round([event]);
    expect(machine.after(5_000).tick().state.mode).toBe("auditing");
    expect(machine.after(1).tick().state.mode).toBe("polling");
  });

  test("continues when the webhook delivers a late commit a moment later", () => {
    const machine = new Machine();
    const event = machine.event("1");
    machine.after(SILENCE + 1).round([event]);
    expect(machine.after(2_000).delivery("1").after(60_000).tick().state.mode).toBe("auditing");
  });

  test("ends when the first round after a restart finds an event", () => {
    const machine = new Machine();
    machine.round([machine.event("1")], true);
    expect(machine.switches).toMatchObject([{ to: "polling" }]);
  });

  test("continues when the first round after a restart finds only events made since the start", () => {
    const machine = new Machine();
    const resumedAt = machine.now;
    machine.after(400);
    const found = [machine.event("1")];
    machine.observe({ kind: "round", now: machine.now, found, resumedAt });
    machine
      .delivery("1")
      .after(SILENCE * 2)
      .tick();
    expect(machine.switches).toEqual([]);
  });

  test.each([3, -3])("ends in time even if event dates are %i h off", (hours) => {
    const machine = new Machine();
    const event = { ...machine.event("1"), at: machine.now + hours * 3_600_000 };
    machine
      .round([event])
      .after(hours > 0 ? SILENCE : 5_000)
      .tick();
    expect(machine.switches).toEqual([]);
    machine.after(1).tick();
    expect(machine.state.mode).toBe("polling");
  });

  test("continues when the first round after a restart finds no event", () => {
    expect(new Machine().round([], true).state.mode).toBe("auditing");
  });

  test("ignores types outside the webhook's subscription", () => {
    const machine = new Machine(["dm.message"]);
    machine.misses("1", "follow");
    expect(machine.round([machine.event("2", "like")], true).state.mode).toBe("auditing");
  });

  test("expects every type until the first delivery by webhook", () => {
    const machine = new Machine([]);
    machine.misses("1", "follow");
    expect(machine.state.mode).toBe("polling");
  });

  test("continues when a delivery is repeated, and still expects earlier events", () => {
    const machine = new Machine();
    const early = machine.event("2");
    machine.after(1_000).delivery("1").delivery("1");
    expect(machine.state.mode).toBe("auditing");
    machine
      .round([early])
      .after(SILENCE + 1)
      .tick();
    expect(machine.switches).toMatchObject([{ to: "polling" }]);
  });

  test("learns the subscription from deliveries", () => {
    const machine = new Machine([]);
    machine.delivery("1").misses("2", "follow");
    expect(machine.state.mode).toBe("auditing");
    machine.misses("3", "dm.message");
    expect(machine.state.mode).toBe("polling");
  });
});

describe("polling", () => {
  function polling(): Machine {
    const machine = new Machine();
    machine.round([machine.event("1")], true);
    machine.switches = [];
    return machine;
  }

  test("continues while the webhook is silent, even if many rounds find no event", () => {
    const machine = polling();
    for (let i = 0; i < 1_000; i++) machine.after(4_000).round();
    expect(machine.switches).toEqual([]);
  });

  test("polling ends after a delivery and two clean rounds", () => {
    const machine = polling();
    machine.after(4_000).delivery("2").after(4_000).round();
    expect(machine.switches).toEqual([]);
    machine.after(4_000).round();
    expect(machine.switches).toMatchObject([{ to: "auditing" }]);
  });

  test("continues when the webhook does not deliver an event made after the first delivery", () => {
    const machine = polling();
    machine.delivery("2");
    machine.after(1_000).round([machine.event("3")]);
    machine.after(SILENCE + 1).round();
    expect(machine.state).toMatchObject({ mode: "polling", cleanRounds: 0 });
  });

  test("does not blame the webhook for events made while it was off", () => {
    const machine = polling();
    machine.round([machine.event("2"), machine.event("3")]);
    machine
      .after(SILENCE * 2)
      .delivery("9")
      .round()
      .round();
    expect(machine.state.mode).toBe("auditing");
  });

  test("sets no deadline, and ignores ticks", () => {
    const machine = polling().delivery("2").after(1_000);
    machine.round([machine.event("3")]).after(SILENCE + 1);
    expect(nextDeadline(machine.state, SILENCE)).toBeUndefined();
    const { state } = machine;
    expect(machine.tick().state).toBe(state);
    expect(machine.switches).toEqual([]);
  });

  test("can begin again after it has ended", () => {
    const machine = polling();
    machine.delivery("2").round().round();
    machine.misses("3");
    expect(machine.switches.map(({ to }) => to)).toEqual(["auditing", "polling"]);
  });
});

describe("hand-back", () => {
  const all = ["dm.message", "like"];
  const polling = () => {
    const machine = new Machine(all);
    return machine.round([machine.event("1", "like")], true);
  };

  test("waits for the events made after the first delivery", () => {
    const machine = polling().delivery("2").after(1_000);
    machine.round([machine.event("3")]).round();
    expect(machine.state.mode).toBe("polling");
    expect(machine.delivery("3").round().state.mode).toBe("auditing");
  });

  test("does not wait forever for an event that the webhook never delivers", () => {
    const machine = polling().delivery("2").after(1_000);
    machine.round([machine.event("3")]).after(SILENCE + 1);
    machine.round().after(3_600_000).delivery("4").round().round();
    expect(machine.state.mode).toBe("auditing");
  });

  test("does not wait for a busy bot to become idle", () => {
    const machine = polling().delivery("2");
    // Each event reaches the log ten seconds before the webhook delivers it.
    for (let id = 3; id < 9; id++) {
      machine.after(1_000).round([machine.event(String(id))]);
      if (id > 3) machine.after(9_000).delivery(String(id - 1));
    }
    expect(machine.state.mode).toBe("polling");
    expect(machine.after(1_000).round().state.mode).toBe("auditing");
  });

  test("waits for an old event that was found a moment ago", () => {
    const machine = polling().delivery("2").after(1_000);
    const late = machine.event("3");
    machine.after(SILENCE + 1).round();
    machine.round([late, machine.event("4")]);
    expect(machine.state.mode).toBe("polling");
    expect(machine.delivery("3").round().state.mode).toBe("auditing");
  });

  test("does not count a failed read", () => {
    const machine = polling().delivery("2").round();
    machine.observe({
      kind: "round",
      now: machine.now,
      found: [],
      partial: true,
    });
    expect(machine.state.mode).toBe("polling");
    expect(machine.round().state.mode).toBe("auditing");
  });

  test("ignores an event made while the webhook was off and readable only now", () => {
    const machine = polling();
    const missed = machine.event("2");
    machine.after(60_000).delivery("3").after(60_000).round([missed]).round();
    machine.after(SILENCE + 6_000).tick();
    expect(machine.switches.map(({ to }) => to)).toEqual(["polling", "auditing"]);
  });

  test("ignores such an event that committed late, when an audit after the hand-back finds it", () => {
    const machine = polling();
    const missed = machine.event("2");
    machine.after(5_000).delivery("3").round().round();
    machine.after(40_000).round([missed]);
    machine.after(SILENCE + 6_000).tick();
    expect(machine.switches.map(({ to }) => to)).toEqual(["polling", "auditing"]);
    const next = machine.event("4");
    machine.round([next]).after(SILENCE + 6_000);
    expect(machine.tick().state.mode).toBe("polling");
  });

  test("does not follow a repeated batch", () => {
    const machine = new Machine(all).delivery("1");
    machine
      .round([machine.event("2")], true)
      .delivery("1")
      .round()
      .round()
      .round();
    expect(machine.state.mode).toBe("polling");
  });

  test("does not follow a repeated batch with an additional new event", () => {
    const machine = polling().delivery("2").delivery("2", "3").round().round().round();
    expect(machine.state.mode).toBe("polling");
    expect(machine.delivery("4").round().round().state.mode).toBe("auditing");
  });

  test("does not follow a delivery without events", () => {
    expect(polling().delivery().round().round().state.mode).toBe("polling");
  });

  test("excludes a type that the webhook has lost, until a delivery contains the type again", () => {
    const machine = new Machine(all);
    machine.misses("1", "like");
    machine.delivery("2").round().round();
    machine.misses("3", "like");
    expect(machine.switches.map(({ to }) => to)).toEqual(["polling", "auditing"]);
    const events = [{ id: "4", type: "like" }];
    machine.observe({ kind: "delivery", now: machine.now, events });
    machine.misses("5", "like");
    expect(machine.state.mode).toBe("polling");
  });

  test("still expects the types that the webhook has not lost", () => {
    const machine = new Machine([...all, "follow"]);
    machine.misses("1", "like");
    machine.delivery("2").round().round();
    machine.misses("3", "follow");
    expect(machine.switches.map(({ to }) => to)).toEqual(["polling", "auditing", "polling"]);
  });
});

describe("the next deadline", () => {
  test("is when the oldest unconfirmed event becomes overdue", () => {
    const machine = new Machine();
    machine.round([machine.event("1")]).after(1_000);
    machine.round([machine.event("2")]);
    expect(nextDeadline(machine.state, SILENCE)).toBe(T0 + SILENCE);
    expect(nextDeadline(machine.delivery("1").state, SILENCE)).toBe(T0 + 1_000 + SILENCE);
  });

  test("is undefined without unconfirmed events and while polling", () => {
    expect(nextDeadline(new Machine().state, SILENCE)).toBeUndefined();
    const machine = new Machine();
    expect(nextDeadline(machine.round([machine.event("1")], true).state, SILENCE)).toBeUndefined();
  });
});

test("the number of expected events is bounded", () => {
  const machine = new Machine();
  const events = Array.from({ length: 1_500 }, (_, i) => machine.event(String(i)));
  machine.round(events);
  expect(machine.state.unconfirmed).toHaveLength(1_000);
  expect(machine.state.unconfirmed.at(-1)).toMatchObject({ id: "1499" });
});

test("observing never modifies the given state", () => {
  const state = Object.freeze(initialMode(new Set(["dm.message"])));
  const found = [{ id: "1", type: "dm.message", at: T0 }];
  observe(state, { kind: "round", now: T0, found }, SILENCE);
  observe(state, { kind: "delivery", now: T0, events: found }, SILENCE);
  expect(state).toEqual(initialMode(new Set(["dm.message"])));
});
