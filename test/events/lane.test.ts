import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { duringEvent } from "../faces/core.ts";
import { type AnyEvent, defaultLane, eventTypes, parseEvent, safeLane } from "../faces/events.ts";
import { logSink } from "../support/log.ts";
import { watching } from "../support/manual-watch.ts";
import { payloads, wireEvent } from "./samples.ts";

function eventOf(type: string, payload: unknown): AnyEvent {
  const parsed = parseEvent(wireEvent(type, payload));
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.event;
}

const laneOf = (type: string, payload: unknown) => defaultLane(eventOf(type, payload));

describe("the lane of an event", () => {
  test("of a message is its conversation", () => {
    expect(laneOf("dm.message", payloads["dm.message"])).toBe("dm:c_1");
  });

  test("of a follow is the user", () => {
    expect(laneOf("follow", payloads.follow)).toBe("user:ada");
  });

  test.each(eventTypes.filter((type) => type !== "dm.message" && type !== "follow"))(
    "of a %s is the post it is about",
    (type) => {
      const payload = { ...payloads[type], entityType: "comment", entityId: "k_7", postId: "p_7" };
      expect(laneOf(type, payload)).toBe("post:p_7");
    },
  );

  test.each(["like", "repost", "quote", "reply"])(
    "of a %s without postId is its entity",
    (type) => {
      expect(laneOf(type, { ...payloads.like, postId: undefined, entityId: "p_9" })).toBe(
        "post:p_9",
      );
    },
  );

  test("is shared by everything that happens on one post, and by nothing else", () => {
    const mention = laneOf("mention", { ...payloads.mention, postId: "p_3" });
    expect(laneOf("like", { ...payloads.like, entityId: "p_3" })).toBe(mention);
    expect(laneOf("like", { ...payloads.like, entityId: "p_4" })).not.toBe(mention);
  });

  test("of a post and of a conversation with one id are two", () => {
    expect(laneOf("dm.message", { ...payloads["dm.message"], conversationId: "7" })).not.toBe(
      laneOf("like", { ...payloads.like, entityId: "7" }),
    );
  });
});

describe("an id that comes as a number leads to the lane of its text", () => {
  test.each<[string, object, object]>([
    ["dm.message", { ...payloads["dm.message"], conversationId: 7 }, { conversationId: "7" }],
    ["mention", { ...payloads.mention, postId: 7 }, { postId: "7" }],
    ["like", { ...payloads.like, postId: null, entityId: 7 }, { postId: undefined, entityId: "7" }],
    ["follow", { actor: { username: 7, name: null } }, { actor: { username: "7", name: "7" } }],
  ])("%s", (type, byNumber, byText) => {
    expect(laneOf(type, byNumber)).toBe(laneOf(type, { ...byNumber, ...byText }));
    expect(laneOf(type, byNumber)).toMatch(/:7$/);
  });
});

describe("types that are newer than this version", () => {
  test.each<[string, object, string]>([
    ["a conversation", { conversationId: "c_2" }, "dm:c_2"],
    ["a post", { postId: "p_2" }, "post:p_2"],
    ["an entity", { entityId: "e_2" }, "post:e_2"],
    ["nothing of the kind", { mood: "sunny" }, "type:whisper"],
    ["a conversation by number", { conversationId: 5 }, "dm:5"],
    ["a post by number", { postId: 7, entityId: 8 }, "post:7"],
    ["fields of another kind", { conversationId: 1.5, postId: {}, entityId: null }, "type:whisper"],
    ["empty fields", { conversationId: "", postId: "", entityId: "" }, "type:whisper"],
  ])("with %s find their place", (_name, payload, lane) => {
    expect(laneOf("whisper", payload)).toBe(lane);
  });
});

test("every payload has a lane, and nothing throws", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (type, payload) => {
        const parsed = parseEvent(wireEvent(type, payload));
        if (parsed.ok) expect(defaultLane(parsed.event)).toMatch(/^(dm|post|user|type):./s);
      },
    ),
  );
});

describe("the lane option", () => {
  const event = eventOf("dm.message", payloads["dm.message"]);

  /** Returns the lane, and the fields of what was logged. */
  function laneBy(option: (event: AnyEvent) => unknown) {
    const sink = logSink();
    const lane = safeLane(option as () => string, sink.log)(event);
    return {
      lane,
      logged: sink.records.map(({ level, returned, err }) => ({ level, returned, err })),
    };
  }

  test("is named if it blocks the event loop", () => {
    const { run, compute, reported } = watching();
    duringEvent(run("a"), () => laneBy(() => void compute(1_500)));
    expect(reported()).toMatchObject([{ suspects: ["a lane()"] }]);
  });

  test("names the lane, or leaves the default lane to some events", () => {
    expect(laneBy(() => "all")).toEqual({ lane: "all", logged: [] });
    expect(laneBy(() => undefined)).toEqual({ lane: "dm:c_1", logged: [] });
    const byType = ({ type }: AnyEvent) => (type === "follow" ? "follows" : undefined);
    expect(laneBy(byType)).toEqual({ lane: "dm:c_1", logged: [] });
  });

  test("may return a whole number, as ids of the platform may be", () => {
    expect(laneBy(() => 7)).toEqual({ lane: "7", logged: [] });
  });

  test.each<[string, () => unknown]>([
    ["Promise", async () => "all"],
    ["an empty string", () => ""],
    ["Null", () => null],
    ["Number", () => Number.NaN],
    ["Boolean", () => true],
    ["Object", () => ({})],
    ["Array", () => ["all"]],
    ["BigInt", () => 7n],
    ["Symbol", () => Symbol("all")],
  ])("that returns %s gives the default lane and an error in the log", (returned, option) => {
    const logged = [{ level: "error", returned, err: undefined }];
    expect(laneBy(option)).toEqual({ lane: "dm:c_1", logged });
  });

  test("may fail, at once or later, without an unhandled rejection", async () => {
    const fail = () => {
      throw new Error("no lane");
    };
    expect(laneBy(fail).lane).toBe("dm:c_1");
    expect(laneBy(async () => fail()).lane).toBe("dm:c_1");
    expect(laneBy(() => new Proxy({}, { get: fail })).lane).toBe("dm:c_1");
  });
});
