import { describe, expect, test } from "vitest";
import type {
  ApiEntry,
  ControlComment,
  DeliveryEntry,
  EventEntry,
  TimelineEntry,
  TimelineRecord,
} from "../../faces/platform.ts";
import { rolesIn, sift, threaded, whereaboutsOf } from "./face.ts";

const ada = { username: "ada", name: "Ada", isBot: false };
const ben = { username: "ben", name: "Ben", isBot: false };
const bot = { username: "bot", name: "Bot", isBot: true };
const helper = { username: "helper", name: "Helper", isBot: true };

describe("who writes in a conversation", () => {
  test("the person, to the bot", () => {
    expect(rolesIn({ group: false, members: [ada, bot] }, "bot")).toEqual({
      from: "ada",
      to: "bot",
    });
  });

  test("of two bots the other one, to the bot that is looked at", () => {
    const members = [helper, bot];
    expect(rolesIn({ group: false, members }, "bot")).toEqual({ from: "helper", to: "bot" });
    expect(rolesIn({ group: false, members }, "helper")).toEqual({ from: "bot", to: "helper" });
  });

  test("nobody in a group, and nobody where two people talk; it is said why", () => {
    const group = rolesIn({ group: true, members: [ada, ben, bot] }, "bot");
    expect(group).toEqual({ closed: expect.stringContaining("no part in groups") });
    const people = rolesIn({ group: false, members: [ada, ben] }, "bot");
    expect(people).toEqual({ closed: expect.stringContaining("must not see") });
  });
});

describe("where the event of the last message is", () => {
  const where = { conversationId: "c_2", from: "ada" };
  const of = (...records: readonly TimelineRecord[]) => {
    const entries = records.map(
      (record, index): TimelineEntry => ({ ...record, seq: index + 1, at: "" }),
    );
    return whereaboutsOf(entries, where);
  };
  const event: EventEntry = {
    kind: "event",
    bot: "bot",
    id: "evt_2",
    type: "dm.message",
    from: "ada",
    conversationId: "c_2",
  };
  const delivery: DeliveryEntry = {
    kind: "delivery",
    id: "dlv_1",
    bot: "bot",
    eventIds: ["evt_2"],
    status: 200,
    ms: 9,
    attempt: 1,
    forced: false,
  };

  test("it waits until a delivery was tried", () => {
    expect(of(event)?.text).toBe("waiting to be delivered");
    expect(of({ ...event, lateMs: 3000 })?.text).toContain("3000 ms");
    expect(of({ ...event, conversationId: "c_9" })).toBeUndefined();
    expect(of({ ...event, from: "ben" })).toBeUndefined();
  });

  test("a delivery is told with its status, its time and its attempt", () => {
    expect(of(event, delivery)).toEqual({
      tone: "good",
      text: "delivered [200] 9 ms, attempt 1",
      eventId: "evt_2",
    });
    const failed = { ...delivery, status: null, error: "refused" };
    expect(of(event, failed)?.text).toBe("failed [no answer] attempt 1, to be retried");
    expect(of(event, { ...failed, forced: true })?.text).not.toContain("retried");
    expect(of(event, failed, { ...delivery, attempt: 2 })?.text).toContain("attempt 2");
    expect(of(event, { ...delivery, eventIds: ["evt_9"] })?.text).toContain("waiting");
  });

  test("so is a bot that polls, an answer that fails, and a webhook that goes off", () => {
    const api: ApiEntry = {
      kind: "api",
      id: "call_1",
      method: "GET",
      path: "/events",
      status: 200,
      ms: 1,
    };
    expect(of(event, { ...api, eventIds: ["evt_2"] })?.text).toContain("polls");
    const path = "/dm/conversations/c_2/messages";
    const answer = { ...api, method: "POST", path };
    expect(of(event, delivery, { ...answer, status: 429 })?.text).toContain("failed [429]");
    expect(of(event, delivery, { ...answer, status: 201 })?.text).toContain("delivered");
    const off = { kind: "webhook", bot: "bot", change: "disabled", reason: "" } as const;
    expect(of(event, { ...delivery, error: "no" }, off)?.text).toContain("webhook is off");
    expect(of(event, { ...off, bot: "helper" })?.text).toContain("waiting");
  });
});

describe("comments stand under what they answer", () => {
  const comment = (id: string, replyToId: string | null): ControlComment => {
    const written = { text: id, images: [], author: ada, createdAt: "" };
    return { id, type: "comment", postId: "p_1", replyToId, ...written };
  };
  const shown = (...comments: readonly ControlComment[]) =>
    threaded(comments).map(({ comment: { id }, depth }) => `${"-".repeat(depth)}${id}`);

  test("oldest first, indented three times at most", () => {
    const all = [
      ...[comment("a", null), comment("b", null), comment("c", "a"), comment("d", "c")],
      ...[comment("e", "d"), comment("f", "e"), comment("g", "a")],
    ];
    expect(shown(...all)).toEqual(["a", "-c", "--d", "---e", "---f", "-g", "b"]);
  });

  test("an answer to what is not there stands by itself", () => {
    expect(shown(comment("a", "gone"))).toEqual(["a"]);
  });

  test("a talk of two bots may be thousands of replies deep", () => {
    const deep = Array.from({ length: 20_000 }, (_, index) =>
      comment(`c${index}`, index === 0 ? null : `c${index - 1}`),
    );
    expect(threaded(deep)).toHaveLength(20_000);
  });
});

describe("the images of a text", () => {
  const file = (name: string, type = "image/png", size = 9) =>
    new File([Buffer.alloc(size)], name, { type });
  const names = (files: readonly File[]) => files.map(({ name }) => name);

  test("are files that the platform takes; others are refused with the reason", () => {
    const files = [
      ...[file("a.png"), file("notes.txt", "text/plain"), file("unknown", "")],
      ...[file("empty.png", "image/png", 0), file("largest.gif", "image/gif", 5 * 1024 * 1024)],
      file("huge.avif", "image/avif", 5 * 1024 * 1024 + 1),
    ];
    const { taken, refused } = sift(files, 4);
    expect(names(taken)).toEqual(["a.png", "largest.gif"]);
    expect(refused).toEqual([
      expect.stringContaining("notes.txt: text/plain"),
      expect.stringContaining("unknown: a file of an unknown type"),
      expect.stringContaining("empty.png: it is empty"),
      expect.stringContaining("huge.avif: 5.0 MB"),
    ]);
  });

  test("are as many as there is room for; the others are named", () => {
    const { taken, refused } = sift(
      ["a", "b", "c"].map((name) => file(name)),
      2,
    );
    expect(names(taken)).toEqual(["a", "b"]);
    expect(refused).toEqual([expect.stringMatching(/not taken: c$/)]);
  });
});
