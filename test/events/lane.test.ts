import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultLane, eventTypes, parseEvent } from "../faces/events.ts";
import { payloads, wireEvent } from "./samples.ts";

function laneOf(type: string, payload: unknown): string {
  const parsed = parseEvent(wireEvent(type, payload));
  if (!parsed.ok) throw new Error(parsed.reason);
  return defaultLane(parsed.event);
}

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
