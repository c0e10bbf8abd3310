import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "../faces/core.ts";
import {
  type AnyEvent,
  type EventType,
  eventTypes,
  isEventType,
  optionalFields,
  type ParsedEvent,
  parseEvent,
  readStoredEvent,
  textsOf,
} from "../faces/events.ts";
import { rules } from "../platform/conformance/rules.ts";
import { payloads, wireEvent } from "./samples.ts";

function eventOf(parsed: ParsedEvent): AnyEvent {
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.event;
}

function reasonOf(raw: unknown): string {
  const parsed = parseEvent(raw);
  if (parsed.ok) throw new Error("this event is usable");
  return parsed.reason;
}

const without = (object: Readonly<Record<string, unknown>>, key: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

describe("the types of section 6", () => {
  test("are these eight, in the order of the document", () => {
    expect(eventTypes).toEqual([
      "dm.message",
      "mention",
      "comment",
      "reply",
      "follow",
      "like",
      "repost",
      "quote",
    ]);
  });

  test.each(eventTypes)("%s comes out as it came in", (type) => {
    const raw = wireEvent(type, payloads[type]);
    expect(parseEvent(raw)).toEqual({ ok: true, event: raw });
  });

  test.each(eventTypes)("%s keeps fields that the platform adds", (type) => {
    const raw = wireEvent(type, { ...payloads[type], mood: "sunny", deep: { list: [1, null] } });
    expect(parseEvent(raw)).toEqual({ ok: true, event: raw });
  });

  test("fields that are added beside the payload are kept too", () => {
    const raw = wireEvent("follow", payloads.follow, { region: "eu", trace: { id: 7 } });
    expect(eventOf(parseEvent(raw))).toEqual(raw);
  });

  test("additional fields of the actor are kept too", () => {
    const actor = { username: "ada", name: "Ada", isBot: true };
    const from = { userId: "u_1", username: "ada", name: "Ada", avatarUrl: null };
    const follow = wireEvent("follow", { ...payloads.follow, actor });
    const dm = wireEvent("dm.message", { ...payloads["dm.message"], from });
    expect(eventOf(parseEvent(follow))).toEqual(follow);
    expect(eventOf(parseEvent(dm))).toEqual(dm);
  });

  test("isEventType knows these, and no name that every object has", () => {
    expect(eventTypes.every(isEventType)).toBe(true);
    for (const name of ["DM.MESSAGE", "", "constructor", "toString", "__proto__"]) {
      expect(isEventType(name)).toBe(false);
    }
  });
});

describe("a type that this version does not know", () => {
  test.each(["poll.closed", "constructor", "__proto__", "toString", "hasOwnProperty", "Mention"])(
    "%s comes out as an unknown event with all it has",
    (type) => {
      const raw = wireEvent(type, { anything: [1, 2], actor: "whoever" }, { region: "eu" });
      expect(parseEvent(raw)).toEqual({ ok: true, event: raw });
    },
  );

  test("needs no field of the known types", () => {
    expect(parseEvent(wireEvent("poll.closed", {})).ok).toBe(true);
    expect(parseEvent(wireEvent("mention", {})).ok).toBe(false);
  });
});

describe("what may be missing", () => {
  test("is marked as optional in section 6", () => {
    const marked = [...rules["6.mention.payload"].matchAll(/(\w+)\?/g)].map(([, name]) => name);
    expect(marked).toContain("excerpt");
    expect(optionalFields).toEqual(marked);
  });

  test.each(optionalFields)("a mention without %s is usable", (field) => {
    const payload = without(payloads.mention, field);
    expect(eventOf(parseEvent(wireEvent("mention", payload))).payload).toEqual(payload);
  });

  test.each(optionalFields)("a mention whose %s is null is one without it", (field) => {
    const parsed = eventOf(
      parseEvent(wireEvent("mention", { ...payloads.mention, [field]: null })),
    );
    expect(parsed.payload).toEqual({ ...payloads.mention, [field]: undefined });
  });

  test.each([
    ["null", null],
    ["absent", undefined],
    ["empty", ""],
  ])("a message whose excerpt is %s has an empty one", (_name, excerpt) => {
    const payload = { ...payloads["dm.message"], excerpt };
    const raw: unknown = JSON.parse(JSON.stringify(wireEvent("dm.message", payload)));
    expect(eventOf(parseEvent(raw)).payload).toMatchObject({ excerpt: "" });
  });

  test.each([
    ["absent", undefined],
    ["null", null],
    ["a number", 5],
  ])("createdAt that is %s becomes empty, for nothing hangs on it", (_name, createdAt) => {
    const event = eventOf(parseEvent(wireEvent("follow", payloads.follow, { createdAt })));
    expect(event.createdAt).toBe("");
  });
});

describe("what section 6 shows no type of", () => {
  const actor = { username: "ada", name: "Ada" };
  const from = { userId: "u_1", username: "ada", name: "Ada" };
  const dm = (fields: object) => wireEvent("dm.message", { ...payloads["dm.message"], ...fields });
  const activity = (type: EventType, fields: object) =>
    wireEvent(type, { ...payloads[type], ...fields });

  /** The round trip through JSON drops absent fields. */
  function payloadOf(raw: unknown): unknown {
    return JSON.parse(JSON.stringify(readStoredEvent(JSON.stringify(raw)).payload));
  }

  test.each<[string, object, object]>([
    [
      "userId that is a number",
      { from: { ...from, userId: 7 } },
      { from: { ...from, userId: "7" } },
    ],
    ["userId that is absent", { from: actor }, { from: actor }],
    ["userId that is null", { from: { ...from, userId: null } }, { from: actor }],
    ["name that is null", { from: { ...from, name: null } }, { from: { ...from, name: "ada" } }],
    ["name that is empty", { from: { ...from, name: "" } }, { from: { ...from, name: "ada" } }],
    ["username that is absent", { from: { name: "Ada" } }, { from: { username: "", name: "Ada" } }],
    ["sender that is null", { from: null }, { from: { username: "", name: "" } }],
    ["sender that is a text", { from: "ada" }, { from: { username: "", name: "" } }],
    ["conversationId that is a number", { conversationId: 12 }, { conversationId: "12" }],
    ["excerpt of another kind", { excerpt: { text: "hi" } }, { excerpt: "" }],
  ])("a message is answerable with a %s", (_name, fields, expected) => {
    expect(payloadOf(dm(fields))).toEqual({ ...payloads["dm.message"], ...expected });
  });

  test.each<[EventType, string, object, object]>([
    ["mention", "entityId that is a number", { entityId: 7 }, { entityId: "7" }],
    ["mention", "postId that is a number", { postId: 7 }, { postId: "7" }],
    ["comment", "commentId that is a number", { commentId: 7 }, { commentId: "7" }],
    ["comment", "entityType that is null", { entityType: null }, { entityType: undefined }],
    ["comment", "entityId that is null", { entityId: null }, { entityId: undefined }],
    [
      "reply",
      "name that is null",
      { actor: { ...actor, name: null } },
      { actor: { ...actor, name: "ada" } },
    ],
    ["mention", "excerpt that is a number", { excerpt: 5 }, { excerpt: "5" }],
    ["like", "entityId that is absent", { entityId: undefined }, {}],
    ["repost", "actor that is null", { actor: null }, { actor: { username: "", name: "" } }],
    ["follow", "entity that is absent", { entityId: undefined, entityType: undefined }, {}],
    [
      "follow",
      "username that is a number",
      { actor: { username: 7 } },
      { actor: { username: "7", name: "7" } },
    ],
  ])("a %s can be handled with an %s", (type, _name, fields, expected) => {
    const sent: unknown = JSON.parse(JSON.stringify({ ...payloads[type], ...fields, ...expected }));
    expect(payloadOf(activity(type, fields))).toEqual(sent);
  });

  test("an event whose id is a number is the event of that text", () => {
    const raw = wireEvent("follow", payloads.follow, { id: 1001 });
    expect(eventOf(parseEvent(raw))).toMatchObject({ id: "1001" });
  });

  test("an id beyond 2^53 keeps its digits, in the event and below it", () => {
    const text =
      '{"id":12345678901234567890,"type":"dm.message","createdAt":"","payload":{"conversationId":-9007199254740993,' +
      '"from":{"userId" : 9007199254740995,"username":"ada","name":"Ada"},"count":9007199254740993}}';
    expect(readStoredEvent(text)).toMatchObject({
      id: "12345678901234567890",
      payload: {
        conversationId: "-9007199254740993",
        from: { userId: "9007199254740995" },
        count: 9007199254740992,
      },
    });
  });

  test("fields of a type that is newer than this version stay as they were sent", () => {
    const raw = wireEvent("poll.closed", { pollId: 7, actor: null });
    expect(eventOf(parseEvent(raw)).payload).toEqual({ pollId: 7, actor: null });
  });
});

describe("an event that cannot be handled has a reason with the path", () => {
  test.each<[string, unknown, RegExp]>([
    ["null", null, /event must be an object/],
    ["a number", 5, /event must be an object/],
    ["a text", "event", /event must be an object/],
    ["a list", [], /id|event must be an object/],
    ["no id", wireEvent("follow", payloads.follow, { id: undefined }), /^id: /],
    ["an empty id", wireEvent("follow", payloads.follow, { id: "" }), /^id: /],
    ["an id that is a fraction", wireEvent("follow", payloads.follow, { id: 10.5 }), /^id: /],
    ["an id that is an object", wireEvent("follow", payloads.follow, { id: {} }), /^id: /],
    ["no type", wireEvent("follow", payloads.follow, { type: undefined }), /^type: /],
    ["an empty type", wireEvent("", {}), /^type: /],
    ["no payload", wireEvent("follow", undefined), /^payload: /],
    ["a payload that is null", wireEvent("poll.closed", null), /^payload: /],
    ["a payload that is a text", wireEvent("poll.closed", "text"), /^payload: /],
    ["a payload that is a list", wireEvent("poll.closed", []), /^payload: /],
    [
      "a follow by nobody",
      wireEvent("follow", without(payloads.follow, "actor")),
      /^payload\.actor\.username: /,
    ],
    [
      "a follower without a username",
      wireEvent("follow", { ...payloads.follow, actor: { name: "Ada" } }),
      /^payload\.actor\.username: /,
    ],
    [
      "a message without a conversation",
      wireEvent("dm.message", without(payloads["dm.message"], "conversationId")),
      /^payload\.conversationId: /,
    ],
    [
      "a conversation without an id",
      wireEvent("dm.message", { ...payloads["dm.message"], conversationId: "" }),
      /^payload\.conversationId: /,
    ],
    [
      "a conversation whose id is a list",
      wireEvent("dm.message", { ...payloads["dm.message"], conversationId: ["c_1"] }),
      /^payload\.conversationId: /,
    ],
    [
      "a mention that is nowhere",
      wireEvent("mention", { actor: { username: "ada", name: "Ada" }, commentId: "k_1" }),
      /^payload\.entityId: .*postId/,
    ],
  ])("%s", (_name, raw, reason) => {
    expect(reasonOf(raw)).toMatch(reason);
  });

  test("every problem is reported", () => {
    expect(reasonOf({ payload: {} })).toMatch(/id: .*type: /);
  });

  test("the id and the type are reported if readable", () => {
    expect(parseEvent(wireEvent("follow", {}))).toMatchObject({ id: "1001", type: "follow" });
    expect(parseEvent({ id: 5, type: "" })).toMatchObject({ id: "5", type: undefined });
    expect(parseEvent({ id: [], type: 5 })).toMatchObject({ id: undefined, type: undefined });
    expect(parseEvent(null)).toMatchObject({ id: undefined, type: undefined });
  });

  test("an id that was only inherited is not one", () => {
    const raw: unknown = Object.create({ id: "1", type: "follow" });
    expect(parseEvent(raw)).toMatchObject({ ok: false, id: undefined, type: undefined });
  });

  test("no value of the event is in the reason", () => {
    const secret = "PRIVATE-WORDS";
    const broken = [
      secret,
      [secret],
      { id: [secret], type: { secret }, payload: secret },
      wireEvent("mention", { actor: secret, entityType: secret, excerpt: secret }),
      wireEvent("dm.message", { conversationId: { secret }, from: secret, excerpt: { secret } }),
      wireEvent("follow", { actor: { name: secret }, [secret]: secret }),
    ];
    for (const raw of broken) expect(reasonOf(raw)).not.toContain(secret);
  });
});

describe("names that every object has", () => {
  const hostile = `{
    "id": "1", "type": "mention", "createdAt": "", "__proto__": {"polluted": "event"},
    "payload": {
      "__proto__": {"polluted": "payload", "postId": "p_evil"},
      "constructor": {"prototype": {"polluted": "constructor"}},
      "actor": {"username": "ada", "name": "Ada", "__proto__": {"polluted": "actor"}},
      "entityType": "post", "entityId": "p_1", "more": {"__proto__": {"polluted": "more"}}
    }
  }`;

  test("do not pollute any prototype", () => {
    const event = readStoredEvent(hostile);
    const payload: Readonly<Record<string, unknown>> = { ...event.payload };
    for (const object of [event, event.payload, payload["actor"], payload["more"], {}, []]) {
      expect((object as { polluted?: unknown }).polluted).toBeUndefined();
    }
  });

  test("cannot slip a field past the check", () => {
    const event = readStoredEvent(hostile);
    expect("postId" in event.payload ? event.payload.postId : undefined).toBeUndefined();
  });

  test("cannot replace a required field", () => {
    const raw =
      '{"id":"1","type":"follow","payload":{"__proto__":{"actor":{"username":"a","name":"b"},"entityType":"user","entityId":"1"}}}';
    expect(() => readStoredEvent(raw)).toThrow(/actor/);
    expect(reasonOf(JSON.parse(raw))).toMatch(/actor/);
  });
});

describe("JSON text", () => {
  test("is read as the event that it holds", () => {
    const raw = wireEvent("quote", payloads.quote);
    expect(readStoredEvent(JSON.stringify(raw))).toEqual(eventOf(parseEvent(raw)));
  });

  test.each(["", "{", "undefined", "\0"])("%j is not JSON", (text) => {
    expect(() => readStoredEvent(text)).toThrow(/is not JSON/);
  });

  test("that is a hundred thousand levels deep does not break the reader", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const text = `{"id":"1","type":"poll.closed","payload":{"deep":${deep}},"createdAt":""}`;
    expect(readStoredEvent(text).type).toBe("poll.closed");
    expect(() => readStoredEvent(deep)).toThrow(/must be an object/);
  });
});

describe("for any value", () => {
  const anyType = fc.oneof(fc.constantFrom(...eventTypes), fc.string());
  const anyEvent = fc.record(
    { id: fc.oneof(fc.string(), fc.jsonValue()), type: anyType, payload: fc.jsonValue() },
    { requiredKeys: [] },
  );

  test("nothing is thrown, and what is usable has an id, a type and a payload", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.jsonValue(), anyEvent), (raw) => {
        const parsed = parseEvent(raw);
        if (!parsed.ok) {
          expect(parsed.reason).not.toBe("");
          return;
        }
        expect(parsed.event.id).not.toBe("");
        expect(parsed.event.type).not.toBe("");
        expect(typeof parsed.event.payload).toBe("object");
      }),
      { numRuns: 2_000 },
    );
  });

  test("an event from its stored text is the event that came in", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anyEvent), (raw) => {
        const wire = parseJson(JSON.stringify(raw));
        const parsed = parseEvent(wire);
        const read = () => readStoredEvent(JSON.stringify(wire));
        if (parsed.ok) expect(read()).toEqual(parsed.event);
        else expect(read).toThrow(expect.objectContaining({ code: "BODY_INVALID" }));
      }),
      { numRuns: 2_000 },
    );
  });

  test("reading twice gives what reading once gave", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...eventTypes),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (type, more) => {
          const parsed = parseEvent(wireEvent(type, { ...more, ...payloads[type] }));
          expect(parsed.ok).toBe(true);
          if (parsed.ok) expect(parseEvent(parsed.event)).toEqual(parsed);
        },
      ),
    );
  });
});

describe("user text in events", () => {
  test("are the excerpt, where there is one", () => {
    expect(textsOf(eventOf(parseEvent(wireEvent("dm.message", payloads["dm.message"]))))).toEqual([
      "hello",
    ]);
    expect(textsOf(eventOf(parseEvent(wireEvent("mention", payloads.mention))))).toEqual([
      "hey @bot",
    ]);
    expect(textsOf(eventOf(parseEvent(wireEvent("follow", payloads.follow))))).toEqual([]);
  });

  test("are found in types that are newer than this version", () => {
    expect(textsOf(eventOf(parseEvent(wireEvent("whisper", { excerpt: "psst" }))))).toEqual([
      "psst",
    ]);
    expect(textsOf(eventOf(parseEvent(wireEvent("whisper", { excerpt: 5 }))))).toEqual([]);
  });
});
