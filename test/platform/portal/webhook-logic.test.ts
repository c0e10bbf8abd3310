import { describe, expect, test } from "vitest";
import type { NotificationView, TimelineEntry, WebhookView } from "../../faces/platform.ts";
import { runPlatform } from "../support/platform.ts";
import {
  draftOf,
  eventTypes,
  failures,
  isSameDraft,
  modeText,
  deliveryOutcome as outcomeOf,
  readBotStatus,
  warningsOf,
  whyNotSent,
  whyOff,
} from "./face.ts";

const webhook: WebhookView = {
  url: "http://127.0.0.1:3000/webhook",
  types: [],
  enabled: true,
  consecutiveFailures: 0,
  disabledReason: null,
  disableAfter: 20,
};

test("every type of section 6 can be chosen, and a test of it makes its event", async () => {
  const types = eventTypes.map(({ type }) => type);
  expect(types).toEqual([
    ...["dm.message", "mention", "comment", "reply", "follow", "like", "repost", "quote"],
  ]);
  const { control } = await runPlatform();
  for (const type of types) {
    const { events } = control.act({ type, from: "ada" });
    expect(events.map((event) => event.type)).toContain(type);
  }
});

describe("the health of a webhook", () => {
  test("the failures are counted against what switches it off", () => {
    expect(failures(webhook)).toContain("0 of 20");
    expect(failures({ ...webhook, consecutiveFailures: 18 })).toContain("after 2 more");
    const off = { ...webhook, enabled: false, consecutiveFailures: 20 };
    expect(failures(off)).toContain("has switched it off");
  });

  test("what switched it off has the time of the notification that says the same", () => {
    const told = (at: string, message: string): NotificationView => {
      return { id: at, at, type: "webhook.disabled", message };
    };
    const off = { ...webhook, enabled: false, disabledReason: "20 in a row" };
    const list = [told("1", "20 in a row"), told("2", "20 in a row"), told("3", "another")];
    const why = (view: WebhookView, entries: readonly TimelineEntry[] = []) =>
      whyOff({ view, told: list, entries, bot: "bot" });
    expect(why(off)).toEqual({ reason: "20 in a row", at: "2" });
    const byOwner = { ...off, disabledReason: "switched off by its owner" };
    expect(why(byOwner)).toEqual({ reason: "switched off by its owner", at: undefined });
    const entry = (bot: string, change: string) =>
      ({
        kind: "webhook",
        seq: 1,
        at: `${bot} ${change}`,
        bot,
        change,
        reason: "",
      }) as TimelineEntry;
    const seen = [entry("bot", "disabled"), entry("bot", "saved"), entry("other", "disabled")];
    expect(why(byOwner, seen)?.at).toBe("bot disabled");
    expect(why({ ...off, url: null, disabledReason: null })?.reason).toContain("no address");
    expect(why(webhook)).toBeUndefined();
  });

  test("an event is not sent by a webhook that is off or not subscribed, nor by a disabled app", () => {
    expect(whyNotSent(webhook, false, "like")).toBeUndefined();
    expect(whyNotSent({ ...webhook, types: ["like"] }, false, "like")).toBeUndefined();
    expect(whyNotSent({ ...webhook, types: ["follow"] }, false, "like")).toContain(
      "not subscribed",
    );
    expect(whyNotSent({ ...webhook, enabled: false }, false, "like")).toContain("is off");
    expect(whyNotSent(webhook, true, "like")).toContain("disabled");
  });

  test("a draft is another one by its address, its types or its switch, not by their order", () => {
    const draft = draftOf({ ...webhook, types: ["like", "follow"] });
    expect(isSameDraft(draft, { ...draft, types: ["follow", "like"] })).toBe(true);
    expect(isSameDraft(draft, { ...draft, types: ["follow"] })).toBe(false);
    expect(isSameDraft(draft, { ...draft, url: "" })).toBe(false);
    expect(isSameDraft(draft, { ...draft, enabled: false })).toBe(false);
    expect(draftOf({ ...webhook, url: null }).url).toBe("");
  });
});

describe("what became of an event", () => {
  const delivery = (more: object) =>
    ({
      ...{ seq: 1, at: "", kind: "delivery", id: "dlv_1", bot: "bot", eventIds: ["evt_1"] },
      ...{ status: 200, ms: 9, attempt: 1, forced: false, ...more },
    }) as TimelineEntry;

  test("the newest delivery that held it counts", () => {
    const failed = delivery({ status: 500, error: "answered with 500" });
    expect(outcomeOf([failed], "evt_1", "bot")).toEqual({
      tone: "bad",
      text: "failed: answered with 500",
    });
    expect(outcomeOf([failed, delivery({ attempt: 2 })], "evt_1", "bot")).toEqual({
      tone: "good",
      text: "delivered: 200 in 9 ms, attempt 2",
    });
  });

  test("the delivery of another event, or to another bot, says nothing", () => {
    const others = [delivery({ eventIds: ["evt_2"] }), delivery({ bot: "other" })];
    expect(outcomeOf(others, "evt_1", "bot")).toBeUndefined();
  });
});

describe("the status of a bot", () => {
  const raw = {
    at: "2026-01-01T00:00:00.000Z",
    ready: true,
    mode: "auditing",
    modeSince: "2026-01-01T00:00:00.000Z",
    modeReason: "start",
    lastDeliveryAt: null,
    log: { cursor: "evt_1", lastPollAt: null, lastPollError: null, readToEndAt: null, lagMs: 5 },
    inbox: { pending: 0, oldestPendingAt: null, oldestPendingAgeMs: null, deadLetters: 0 },
    requests: null,
    instances: null,
  };
  const read = (more: object) => {
    const status = readBotStatus({ ...raw, ...more });
    if (status === undefined) throw new Error("It is one.");
    return status;
  };

  test("a healthy one has nothing that is worth a look", () => {
    expect(read({})).toMatchObject({ mode: "auditing", ready: true, log: { lagMs: 5 } });
    expect(warningsOf(read({}))).toEqual([]);
  });

  test.each([
    [{ ready: false }, "not ready"],
    [{ mode: "polling" }, "mend the webhook"],
    [{ inbox: null }, "DATABASE_URL"],
    [{ inbox: { ...raw.inbox, deadLetters: 3 } }, "3 given up"],
    [{ inbox: { ...raw.inbox, oldestPendingAgeMs: 61_000 } }, "1 min 1 s"],
    [{ log: { ...raw.log, lastPollError: { code: "FORBIDDEN", status: 403 } } }, "FORBIDDEN (403)"],
    [{ log: { ...raw.log, lastPollError: { code: "NETWORK", status: null } } }, "with NETWORK."],
    [{ requests: { perMinute: 60, left: 0, waiting: 2 } }, "MAX_REQUESTS_PER_MINUTE"],
    [{ instances: { self: "a", list: [], poller: null, endedLastMinute: 0 } }, "No instance reads"],
  ])("%j is worth a look, and has a remedy", (more, remedy) => {
    expect(warningsOf(read(more))).toEqual([expect.stringContaining(remedy)]);
  });

  test("instances are read with who reads the log", () => {
    const list = [{ id: "a", version: "1.0.0", startedAt: "t", seenAt: "t", lastDeliveryAt: null }];
    const poller = { holder: "a", term: 1, expiresAt: "t" };
    const { instances } = read({ instances: { self: "a", list, poller, endedLastMinute: 7 } });
    expect(instances).toEqual({
      self: "a",
      list: [{ id: "a", version: "1.0.0", startedAt: "t" }],
      reader: "a",
      endedLastMinute: 7,
    });
  });

  test("of another version, what is not there is unknown; what is no status is none", () => {
    const older = readBotStatus({ mode: "webhook" });
    expect(older).toMatchObject({ mode: "webhook", ready: false, log: null, inbox: null });
    expect([null, "ready", [], { ready: true }].map(readBotStatus)).toEqual(
      Array.from({ length: 4 }),
    );
    expect(modeText("dreaming")).toContain("does not know");
  });
});
