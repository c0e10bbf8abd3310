import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { defaultLane, type LaneOf, orderKey } from "../faces/events.ts";
import { type NewEvent, readBatch, untimedKey } from "../faces/inbox.ts";

const actor = { username: "ada", name: "Ada" };

function follow(id: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { id, type: "follow", payload: { actor, entityType: "user", entityId: "u_1" }, ...more };
}

function read(raw: unknown, laneOf: LaneOf = defaultLane): NewEvent {
  const [event] = readBatch([raw], laneOf);
  if (event === undefined) throw new Error("the batch has no event");
  return event;
}

/** Returns a deeply nested array, like the result of `JSON.parse` for a hostile body. */
function nested(levels: number): unknown {
  return JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
}

const TOO_DEEP = 200_000;

describe("an event on its way in", () => {
  test("carries its id, its type, its lane, its order, and itself, parsed and as text", () => {
    const raw = follow("1001", { createdAt: "2026-01-02T03:04:05.678Z" });
    expect(read(raw)).toEqual({
      id: "1001",
      type: "follow",
      lane: "user:ada",
      ord: orderKey("1001"),
      body: JSON.stringify(raw),
      event: raw,
    });
  });

  test("keeps every field, also of types that are newer than this version", () => {
    const raw = { id: "7", type: "poll.closed", payload: { votes: [1, 2] }, region: "eu" };
    expect(JSON.parse(read(raw).body)).toEqual(raw);
    expect(read(raw)).toMatchObject({ type: "poll.closed", lane: "type:poll.closed" });
  });

  test("of an own type keeps its place in the lane, and does not count for lateness", () => {
    const own = read({ id: "order:1", type: "order.paid", payload: { conversationId: "c1" } });
    expect(own).toMatchObject({ lane: "dm:c1", ord: untimedKey("order:1") });
  });

  test("goes to the lane that the bot chooses", () => {
    expect(read(follow("1"), (event) => `mine:${event.id}`).lane).toBe("mine:1");
  });

  test("with an id or a type that no index takes is parked under a name of its own", () => {
    for (const raw of [follow("9".repeat(513)), follow("7", { type: "x".repeat(513) })]) {
      const parked = read(raw);
      expect(parked.unusable).toMatch(/^(id|type): longer than 512 bytes$/);
      for (const key of [parked.id, parked.type, parked.ord]) {
        expect(Buffer.byteLength(key)).toBeLessThan(600);
      }
      expect(parked.body).toBe(JSON.stringify(raw));
    }
    expect(read(follow("9".repeat(512))).unusable).toBeUndefined();
  });

  test("with the type of an event of the bot's own is parked, because no handler of timers may get it", () => {
    for (const type of ["timer:remind", "cron:daily"]) {
      const raw = follow("7", { type });
      expect(read(raw)).toMatchObject({ id: "7", body: JSON.stringify(raw) });
      expect(read(raw).unusable).toMatch(/^type: starts with a prefix reserved/);
    }
  });

  test("with the id of an event of the bot's own is parked under another, because the id is still to come", () => {
    const ids = ["cron:daily:2026-11-23T09:00:00Z", "timer:remind:7"];
    const parked = ids.map((id) => read(follow(id)));
    for (const { id, unusable } of parked) {
      expect(id).toMatch(/^invalid:[0-9a-f]{32}$/);
      expect(unusable).toMatch(/^id: starts with a prefix reserved/);
    }
    expect(parked[0]?.id).not.toBe(parked[1]?.id);
  });

  test("in a lane with a long name gets a shorter one, that is no other lane's", () => {
    const long = "漢".repeat(500);
    const lanes = [long, `${long}1`].map((lane) => read(follow("1"), () => lane).lane);
    for (const lane of lanes) expect(Buffer.byteLength(lane)).toBeLessThan(512);
    expect(lanes[0]).not.toBe(lanes[1]);
    expect(read(follow("1"), () => long).lane).toBe(lanes[0]);
  });

  test("with NUL and lone surrogates is kept as it is", () => {
    const raw = follow("1", { note: "a\0b\ud800c" });
    expect(JSON.parse(read(raw).body)).toEqual(raw);
  });
});

describe("a batch", () => {
  test("is sorted by id, also where a prefix and an unpadded number make it", () => {
    const batch = readBatch(
      ["q_10", "q_9", "q_100", "q_1"].map((id) => follow(id)),
      defaultLane,
    );
    expect(batch.map(({ id }) => id)).toEqual(["q_1", "q_9", "q_10", "q_100"]);
  });

  test("is sorted by id: digits as numbers, then the rest", () => {
    const ids = ["evt_b", "10", "9007199254740993", "9", "evt_a", "9007199254740992"];
    const sorted = readBatch(
      ids.map((id) => follow(id)),
      defaultLane,
    ).map(({ id }) => id);
    expect(sorted).toEqual(["9", "10", "9007199254740992", "9007199254740993", "evt_a", "evt_b"]);
  });

  test("loses nothing and adds nothing, for any content", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (raw) => {
        const batch = readBatch(raw, defaultLane);
        const texts = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort();
        expect(batch.map(({ body }) => body).sort()).toEqual(texts(raw));
        const orders = batch.map(({ ord }) => ord);
        expect(orders).toEqual([...orders].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
      }),
    );
  });

  test("keeps the text that the sender wrote, but gives an event without an id the same one in any text", () => {
    const raw = [follow("1"), { type: "follow" }];
    const written = raw.map((one) => JSON.stringify(one, null, 1));
    const [first, invalid] = readBatch(raw, defaultLane, written);
    expect(first?.body).toBe(written[0]);
    expect(invalid).toEqual(read(raw[1]));
    expect(read({ ...follow("1"), deep: nested(100) }).body).toBe("");
    const [deep] = readBatch([{ ...follow("1"), deep: nested(100) }], defaultLane, ["text"]);
    expect(deep).toMatchObject({ body: "", unusable: expect.any(String) });
  });

  test("without events is empty", () => {
    expect(readBatch([], defaultLane)).toEqual([]);
  });
});

describe("an event that cannot be handled", () => {
  test("is passed on with the reason, and the rest of the batch without one", () => {
    const batch = readBatch([follow("1"), { id: "2", type: "follow", payload: {} }], defaultLane);
    expect(batch.map(({ id, unusable }) => [id, unusable === undefined])).toEqual([
      ["1", true],
      ["2", false],
    ]);
    expect(batch[1]?.unusable).toMatch(/payload\.actor/);
  });

  test("keeps its id, its type and its text, so that it can be looked at", () => {
    const raw = { id: "2", type: "follow", payload: {} };
    expect(read(raw)).toMatchObject({ id: "2", type: "follow", body: JSON.stringify(raw) });
  });

  test("is never given to the bot's lane function", () => {
    const laneOf = vi.fn<LaneOf>(() => "mine");
    expect(read({ id: "2" }, laneOf).lane).toBe("invalid");
    expect(laneOf).not.toHaveBeenCalled();
    expect(read(follow("2"), laneOf).lane).toBe("mine");
  });

  test.each(["\ud800", "\udc00", "evt_\ud800_1"])(
    "with half a character in its id gets one from its content: stored as UTF-8 it would pass for others",
    (id) => {
      const { id: made, unusable } = read(follow(id));
      expect(made).toMatch(/^invalid:[0-9a-f]{32}$/);
      expect(unusable).toMatch(/^id: .*surrogate/);
      expect(read(follow(`${id}\ud800`)).id).not.toBe(made);
    },
  );

  test("with an id of whole characters beyond the first plane keeps it", () => {
    expect(read(follow("evt_\u{1f600}"))).toMatchObject({
      id: "evt_\u{1f600}",
    });
  });

  test("without an id gets one from its content: repeats are one, others are others", () => {
    const one = { type: "follow", payload: { actor } };
    expect(read(one).id).toMatch(/^invalid:[0-9a-f]{32}$/);
    expect(read({ ...one }).id).toBe(read(one).id);
    expect(read({ ...one, more: 1 }).id).not.toBe(read(one).id);
    expect(read({ ...one, id: 5 }).id).not.toBe(read(one).id);
  });

  test.each([
    ["null", null],
    ["a number", 5],
    ["a text", "x"],
    ["a list", [[]]],
    ["nothing", {}],
  ])("may be %s", (_name, raw) => {
    expect(read(raw)).toMatchObject({
      type: "invalid",
      lane: "invalid",
      body: JSON.stringify(raw),
    });
    expect(read(raw).unusable).toBeTruthy();
  });
});

describe("an event of more than a hundred levels", () => {
  test.each([101, 5_000, TOO_DEEP])(
    "is passed on as one that cannot be handled, with its id and type: %i",
    (levels) => {
      expect(read({ ...follow("1"), deep: nested(levels - 1) })).toMatchObject({
        id: "1",
        type: "follow",
        body: "",
        unusable: "nested more than 100 levels deep",
      });
    },
  );

  test("is one for its hundred and first: with a hundred it is handled", () => {
    const raw = { ...follow("1"), deep: nested(99) };
    expect(read(raw)).toMatchObject({ body: JSON.stringify(raw), lane: "user:ada" });
    expect(read(raw).unusable).toBeUndefined();
  });

  test("leaves the rest of its batch alone", () => {
    const [first, second] = readBatch(
      [{ ...follow("1"), deep: nested(TOO_DEEP) }, follow("2")],
      defaultLane,
    );
    expect(first?.unusable).toBeDefined();
    expect(second).toMatchObject({ id: "2", lane: "user:ada" });
    expect(second?.unusable).toBeUndefined();
  });

  test("and has no id does not throw either", () => {
    expect(read(nested(TOO_DEEP)).unusable).toBeDefined();
    expect(read({ type: "follow", deep: nested(TOO_DEEP) }).unusable).toBeDefined();
  });
});
