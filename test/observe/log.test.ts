import { describe, expect, test } from "vitest";
import { harness } from "../dispatcher/harness.ts";
import { createLogger, LineWriter } from "../faces/core.ts";
import { type ChannelMessages, channels } from "../faces/observe.ts";
import { loggedSender, runMessage } from "../support/channels.ts";
import { messages } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";

function deliveries(): {
  readonly publish: (delivery: Omit<ChannelMessages["delivery"], "bot">) => void;
  readonly levels: () => readonly string[];
} {
  const sink = logSink();
  const bot = loggedSender(sink.log);
  return {
    publish: (delivery) => channels.delivery.publish({ bot, ...delivery }),
    levels: () => sink.records.map(({ level }) => level),
  };
}

const forged = { status: 401, code: "SIGNATURE_MISMATCH", reason: "no" };
const stale = { status: 400, code: "SIGNATURE_STALE", reason: "no" };
const full = { status: 503, code: "STORE_UNAVAILABLE", reason: "no", error: new Error("full") };
const batch: ChannelMessages["batch"] = {
  ...{ bot: undefined, source: "webhook", events: [], stored: [], duplicates: 0, unusable: 0 },
  trace: undefined,
};
const stored = { status: 200, ms: 1, batch };

describe("a failure that repeats itself", () => {
  test("of deliveries is a warning once, until a delivery is stored", () => {
    const { publish, levels } = deliveries();
    for (const delivery of [forged, forged, forged, stored, forged]) publish(delivery);
    expect(levels()).toEqual(["warn", "debug", "debug", "info", "warn"]);
  });

  test("is distinguished by its code", () => {
    const { publish, levels } = deliveries();
    for (const delivery of [forged, stale, forged, stale]) publish(delivery);
    expect(levels()).toEqual(["warn", "warn", "debug", "debug"]);
  });

  test("of blocks is a warning once for each handler or set of possible handlers", () => {
    const sink = logSink();
    const bot = loggedSender(sink.log);
    const blocks: readonly (readonly [string[], string])[] = [
      [[], "warn"],
      [["a", "b"], "warn"],
      [["b", "a", "a"], "debug"],
      [["a", "a"], "warn"],
      [["a"], "warn"],
      [["a"], "debug"],
      [["b"], "warn"],
      [[], "debug"],
    ];
    for (const [handlers] of blocks) {
      const suspects = handlers.map((handler) => ({ handler }));
      channels.blocked.publish({ bot, ms: 1_500, isCertain: false, suspects });
    }
    expect(sink.records.map(({ level }) => level)).toEqual(blocks.map(([, level]) => level));
  });

  test("of the store is an error once, until a delivery is stored", () => {
    const { publish, levels } = deliveries();
    for (const delivery of [full, full, stored, full]) publish(delivery);
    expect(levels()).toEqual(["error", "debug", "info", "error"]);
  });

  test("of claims is an error once, until the store answers", async () => {
    const { inbox, clock, dispatcher, log } = harness(() => undefined);
    const claim = inbox.claim.bind(inbox);
    const failures = () =>
      log.records.filter(({ err }) => err !== undefined).map(({ level }) => level);
    const failFor = async (event: string) => {
      const before = failures().length;
      inbox.claim = () => Promise.reject(new Error("away"));
      await inbox.put(messages(event), "webhook");
      await clock.advance(3_000);
      inbox.claim = claim;
      await clock.advance(1_000);
      await dispatcher.idle();
      return failures().slice(before);
    };
    expect((await failFor("1")).slice(0, 3)).toEqual(["error", "debug", "debug"]);
    expect((await failFor("2")).slice(0, 2)).toEqual(["error", "debug"]);
  });

  test("of an event is a line each time", () => {
    const sink = logSink();
    const bot = loggedSender(sink.log);
    for (const outcome of ["retry", "retry", "dead", "dead"] as const) {
      channels.run.publish(runMessage(bot, { outcome }));
    }
    expect(sink.records.map(({ level }) => level)).toEqual(["warn", "warn", "error", "error"]);
  });
});

test("deliveries and handled events share a write call, and failures are written at once", async () => {
  const calls: string[] = [];
  const destination = new LineWriter({ write: (text) => void calls.push(text) });
  const bot = loggedSender(createLogger({ level: "info", secrets: [], destination }));
  channels.delivery.publish({ bot, ...stored });
  channels.run.publish(runMessage(bot));
  expect(calls).toHaveLength(0);
  await new Promise(setImmediate);
  expect(calls).toHaveLength(1);
  channels.run.publish(runMessage(bot, { outcome: "dead" }));
  expect(calls).toHaveLength(2);
});
