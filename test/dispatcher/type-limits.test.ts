import { describe, expect, test, vi } from "vitest";
import { payloads } from "../events/samples.ts";
import type { HandlerOptions } from "../faces/core.ts";
import { TypeLimits } from "../faces/dispatcher.ts";
import type { NewEvent } from "../faces/inbox.ts";
import { message } from "../support/inbox-events.ts";
import { gate, type Harness, harness, stop } from "./harness.ts";

const mention = (id: string, lane: string): NewEvent => typed("mention", id, lane);

function typed(type: "mention" | "comment", id: string, lane: string): NewEvent {
  const body = JSON.stringify({
    id,
    type,
    payload: payloads[type],
    createdAt: "2026-01-01T00:00:00.000Z",
  });
  return { ...message(id), type, lane, body };
}

const mentions = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => mention(`m${from + n}`, `post:${from + n}`));

interface Slow extends Harness {
  readonly begun: string[];
  readonly open: () => void;
}

function slowMentions(
  concurrency: number,
  options: Readonly<Record<string, HandlerOptions>> = {},
  handledTypes: readonly string[] = ["dm.message", "mention"],
): Slow {
  const hanging = gate();
  const begun: string[] = [];
  const made = harness(
    async ({ event }) => {
      begun.push(event.id);
      if (event.type === "mention") await hanging.pass();
    },
    { concurrency, handledTypes, optionsFor: (type) => options[type] ?? {} },
  );
  return { ...made, begun, open: hanging.open };
}

const eventually = (expected: () => void) => vi.waitFor(expected, { timeout: 10_000 });

describe("slow events of one type", () => {
  test("delay no event of another type, however many there are", async () => {
    const { inbox, clock, dispatcher, begun, open } = slowMentions(16);
    await inbox.put(mentions(40), "webhook");
    await eventually(() => expect(begun).toHaveLength(12));
    await inbox.put([message("1", "a")], "webhook");
    await eventually(() => expect(begun).toContain("1"));
    expect(begun).toHaveLength(13);
    open();
    await dispatcher.idle();
    expect(begun).toHaveLength(41);
    expect(await inbox.stats()).toMatchObject({ done: 41, pending: 0 });
    await stop(dispatcher, clock);
  });

  test("that come first in the queue are skipped", async () => {
    const { inbox, begun, open } = slowMentions(4);
    await inbox.put([...mentions(30), message("1", "zz")], "webhook");
    await eventually(() => expect(begun).toContain("1"));
    expect(begun).toHaveLength(4);
    open();
  });

  test("are handled as soon as one of them ends, without a look at the clock", async () => {
    const { inbox, dispatcher, begun, open } = slowMentions(4, { mention: { concurrency: 1 } });
    await inbox.put(mentions(6), "webhook");
    await eventually(() => expect(begun).toEqual(["m0"]));
    open();
    await dispatcher.idle();
    expect(begun).toHaveLength(6);
  });

  test("have all places of a bot that handles no other type", async () => {
    const { inbox, begun, open } = slowMentions(8, {}, ["mention"]);
    await inbox.put(mentions(20), "webhook");
    await eventually(() => expect(begun).toHaveLength(8));
    open();
  });

  test("do not make the dispatcher ask the store again and again", async () => {
    const { inbox, begun, open } = slowMentions(4);
    const claim = vi.spyOn(inbox, "claim");
    await inbox.put(mentions(20), "webhook");
    await eventually(() => expect(begun).toHaveLength(3));
    for (let turn = 0; turn < 200; turn++) await new Promise((next) => setImmediate(next));
    expect(claim.mock.calls.length).toBeLessThan(10);
    open();
  });
});

test("the concurrency of the bot holds for all types together, even if each type may have every place", async () => {
  const hanging = gate();
  const begun: string[] = [];
  const { inbox, dispatcher } = harness(
    async ({ event }) => {
      begun.push(event.id);
      await hanging.pass();
    },
    { concurrency: 2, optionsFor: () => ({ concurrency: 2 }) },
  );
  await inbox.put([message("1", "a")], "webhook");
  await eventually(() => expect(begun).toEqual(["1"]));
  await inbox.put(mentions(2), "webhook");
  await eventually(() => expect(begun).toHaveLength(2));
  hanging.open();
  await dispatcher.idle();
  expect(begun).toHaveLength(3);
});

describe("the concurrency of a type", () => {
  test("is never exceeded, also where lanes go on with an event of that type", async () => {
    const running = new Set<string>();
    let most = 0;
    const { inbox, dispatcher } = harness(
      async ({ event }) => {
        if (event.type !== "mention") return;
        running.add(event.id);
        most = Math.max(most, running.size);
        await new Promise((next) => setImmediate(next));
        running.delete(event.id);
      },
      {
        concurrency: 8,
        handledTypes: ["mention", "comment"],
        optionsFor: (type) => (type === "mention" ? { concurrency: 2 } : {}),
      },
    );
    const events = Array.from({ length: 20 }, (_, n) => [
      typed("comment", `${n}a`, `post:${n}`),
      mention(`${n}b`, `post:${n}`),
      typed("comment", `${n}c`, `post:${n}`),
    ]);
    await inbox.put(events.flat(), "webhook");
    await dispatcher.idle();
    expect(most).toBe(2);
    expect(await inbox.stats()).toMatchObject({ done: 60, dead: 0 });
  });

  test("costs an event that is handed back no attempt, and keeps the order of its lane", async () => {
    const hanging = gate();
    const seen: string[] = [];
    const { inbox, dispatcher } = harness(
      async ({ event, claim: { attempt } }) => {
        seen.push(`${event.id}#${attempt}`);
        if (event.id === "1m") await hanging.pass();
      },
      {
        concurrency: 4,
        handledTypes: ["mention", "comment"],
        optionsFor: (type) => (type === "mention" ? { concurrency: 1 } : {}),
      },
    );
    await inbox.put([mention("1m", "post:1")], "webhook");
    await hanging.entered;
    const others = [typed("comment", "2a", "post:2"), mention("2b", "post:2")];
    await inbox.put([...others, typed("comment", "2c", "post:2")], "webhook");
    await eventually(() => expect(seen).toContain("2a#1"));
    hanging.open();
    await dispatcher.idle();
    expect(seen).toEqual(["1m#1", "2a#1", "2b#1", "2c#1"]);
    expect((await inbox.admin.show("2b")).history).toEqual([]);
  });
});

describe("the places of a type", () => {
  const limit = (
    concurrency: number,
    types: readonly string[],
    { own, handlesOtherTypes = false }: { own?: number; handlesOtherTypes?: boolean } = {},
  ) =>
    new TypeLimits(concurrency, {
      handledTypes: types,
      handlesOtherTypes,
      optionsFor: () => (own === undefined ? {} : { concurrency: own }),
    }).limitOf("mention");
  const two = ["mention", "reply"];

  test.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
    [8, 6],
    [16, 12],
    [100, 75],
  ])("of %i are %i, which leaves a quarter to other types", (concurrency, places) => {
    expect(limit(concurrency, two)).toBe(places);
    expect(limit(concurrency, ["mention"])).toBe(concurrency);
    const others = { handlesOtherTypes: true };
    expect(limit(concurrency, ["mention"], others)).toBe(places);
    expect(limit(concurrency, [], others)).toBe(places);
  });

  test("are limited by the type's option, within the bot's limit", () => {
    expect(limit(16, two, { own: 16 })).toBe(16);
    expect(limit(16, two, { own: 3 })).toBe(3);
    expect(limit(16, two, { own: 50 })).toBe(16);
  });
});

test("types that have ended cost a claim nothing, however many there were", () => {
  const types = { handledTypes: [], handlesOtherTypes: true, optionsFor: () => ({}) };
  const limits = new TypeLimits(16, types);
  limits.enter("busy");
  for (let n = 0; n < 150_000; n++) {
    limits.enter(`type ${n}`);
    limits.leave(`type ${n}`);
  }
  const rooms = limits.roomsFor(16);
  expect(rooms?.byType.size).toBeLessThan(200);
  expect(rooms?.byType.get("busy")).toBe(11);
});
