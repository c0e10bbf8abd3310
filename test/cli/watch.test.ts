import { describe, expect, test } from "vitest";
import { type Happened, Watch } from "../faces/cli.ts";
import type { ActInput, TimelineEntry } from "../faces/platform.ts";

/** An entry as it comes over the wire, of the app of `bot`. */
function entry(record: Readonly<Record<string, unknown>>, bot = "bot"): TimelineEntry {
  const wire: unknown = { seq: 1, at: "2026-01-01T00:00:00.000Z", bot, ...record };
  return wire as TimelineEntry;
}

const actor = { username: "ada", name: "Ada" };

function happened(act: Partial<ActInput>, result: Partial<Happened["result"]>): Happened {
  return { act: { type: "comment", from: "ada", ...act }, result: { events: [], ...result } };
}

/** Ada comments on p_1. */
const commented = (act: Partial<ActInput> = {}): Happened => {
  const payload = { actor, entityType: "comment", entityId: "cm_1", postId: "p_1" };
  const event = { id: "evt_1", type: "comment", payload, createdAt: "" } as const;
  return happened(act, { events: [event], postId: "p_1", commentId: "cm_1" });
};

/** Ada follows the bot. */
const followed = (): Happened => {
  const payload = { actor, entityType: "user", entityId: "u_1" };
  const event = { id: "evt_1", type: "follow", payload, createdAt: "" } as const;
  return happened({ type: "follow" }, { events: [event] });
};

const event = (bot?: string, type = "comment") =>
  entry({ kind: "event", id: "evt_1", type, from: "ada", postId: "p_1" }, bot);

/** Somebody else's comment on p_1, so many milliseconds from the event. */
const earlier = (ms: number, more: object = {}) => {
  const at = new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
  return entry({
    ...{ kind: "event", id: "evt_0", type: "comment", from: "ben" },
    postId: "p_1",
    at,
    ...more,
  });
};

const request = {
  kind: "api",
  id: "call_1",
  method: "POST",
  path: "/",
  status: 201,
  ms: 1,
} as const;

/** The bot comments on a post. */
const comment = (postId: string, bot?: string, text = "thanks") =>
  entry({ ...request, text, created: { postId, commentId: "cm_2" } }, bot);

function answers(what: Happened, ...entries: readonly TimelineEntry[]): number {
  const watch = new Watch(what);
  for (const one of entries) watch.see(one);
  return watch.answers.length;
}

describe("an answer", () => {
  test("is what the bot writes where the event happened, after it", () => {
    expect(answers(commented(), event(), comment("p_1"))).toBe(1);
    expect(answers(commented(), comment("p_1"), event())).toBe(0);
    expect(answers(commented(), event(), comment("p_2"))).toBe(0);
  });

  test("is the bot's that got the event", () => {
    expect(answers(commented(), event("bot"), comment("p_1", "bot"))).toBe(1);
    expect(answers(commented(), event("bot"), comment("p_1", "helper"))).toBe(0);
  });

  test("is the bot's that was named, where several got an event", () => {
    const both = [event("helper"), event("bot"), comment("p_1", "helper")];
    expect(answers(commented({ to: "@Helper" }), ...both)).toBe(1);
    expect(answers(commented({ to: "bot" }), ...both)).toBe(0);
  });

  test("counts although its own answer was lost", () => {
    const lost = { ...request, status: null, created: { postId: "p_1" } };
    expect(answers(commented(), event(), entry(lost))).toBe(1);
  });

  test("is not what an earlier event in the same place is still owed", () => {
    const watch = new Watch(commented());
    for (const one of [earlier(0), event()]) watch.see(one);
    watch.see(comment("p_1", "bot", "to the earlier one"));
    expect(watch.answers).toEqual([]);
    watch.see(comment("p_1", "bot", "to this one"));
    expect(watch.answers).toMatchObject([{ text: "to this one" }]);
  });

  test("is not kept for an earlier event that was answered, is older, elsewhere, or at another bot", () => {
    expect(answers(commented(), earlier(0), comment("p_1"), event(), comment("p_1"))).toBe(1);
    expect(answers(commented(), earlier(-3_001), event(), comment("p_1"))).toBe(1);
    expect(answers(commented(), earlier(0, { postId: "p_2" }), event(), comment("p_1"))).toBe(1);
    expect(answers(commented(), earlier(0, { bot: "helper" }), event(), comment("p_1"))).toBe(1);
  });

  test("is not kept for what bots rarely answer, be it earlier or this very event", () => {
    expect(answers(commented(), earlier(0, { type: "like" }), event(), comment("p_1"))).toBe(1);
    const liked = commented({ type: "like" });
    expect(answers(liked, event("bot", "like"), earlier(0), comment("p_1"))).toBe(0);
    expect(answers(liked, event("bot", "like"), comment("p_1"))).toBe(1);
    const watch = new Watch(liked);
    for (const one of [event("bot", "like"), earlier(0), comment("p_1")]) watch.see(one);
    expect(watch.likelyAnswers).toEqual([]);
  });

  test("is in the end for this event where nothing more came", () => {
    const watch = new Watch(commented());
    for (const one of [earlier(0), event(), comment("p_1")]) watch.see(one);
    watch.see(entry({ ...earlier(0), id: "evt_2", postId: "p_2" }));
    watch.see(comment("p_2", "bot", "to somebody else"));
    expect(watch.likelyAnswers).toMatchObject([{ text: "thanks" }]);
  });

  test("to what has no place is what names the person", () => {
    const to = (text: string) => answers(followed(), event(), comment("p_9", undefined, text));
    expect(to("welcome, @Ada.")).toBe(1);
    expect(to("welcome, @adam")).toBe(0);
    expect(to("welcome")).toBe(0);
  });
});

describe("runs that the bot reports", () => {
  const run = { kind: "run", eventId: "evt_1", attempt: 1, outcome: "done", ms: 1 };
  const seen = (what: Happened, ...entries: readonly TimelineEntry[]) => {
    const watch = new Watch(what);
    for (const one of entries) watch.see(one);
    return watch;
  };

  test("end the wait when the last event is done", () => {
    const reporting = { ...commented(), reportingBots: ["bot"] };
    expect(seen(reporting, event())).toMatchObject({ isReporting: true, isHandled: false });
    expect(seen(reporting, event(), entry(run)).isHandled).toBe(true);
    expect(seen(commented(), event()).isReporting).toBe(false);
    expect(seen(commented(), event(), entry(run)).isHandled).toBe(true);
  });

  test("fail with the first that fails, and count for the events and the bot concerned alone", () => {
    const failed = { ...run, outcome: "retry", retryInMs: 5 };
    const later = { ...failed, attempt: 2 };
    expect(seen(commented(), event(), entry(failed), entry(later)).failedRun?.attempt).toBe(1);
    const other = entry({ ...failed, eventId: "evt_9" });
    expect(seen(commented(), event(), other).failedRun).toBeUndefined();
    expect(seen(commented(), event(), entry(failed, "helper")).failedRun).toBeUndefined();
  });

  test("do not fail where they are put off: the event is not done, and the last of these runs says why", () => {
    const putOff = { ...run, outcome: "released", retryInMs: 5 };
    const again = { ...putOff, attempt: 2 };
    const waiting = seen(commented(), event(), entry(putOff), entry(again));
    expect(waiting).toMatchObject({ failedRun: undefined, isHandled: false });
    expect(waiting.putOffRun?.attempt).toBe(2);
    waiting.see(entry({ ...run, attempt: 3 }));
    expect(waiting).toMatchObject({ isHandled: true, putOffRun: undefined });
  });

  test("are awaited from every bot concerned", () => {
    const what = { ...commented(), reportingBots: ["bot"] };
    expect(seen(what, event("bot"), event("helper")).isReporting).toBe(false);
  });

  test("come with the event that a request answers, so that nothing is guessed", () => {
    const because = (eventId: string) =>
      entry({ ...request, text: "thanks", created: { postId: "p_1", commentId: "cm_2" }, eventId });
    expect(answers(commented(), earlier(0), event(), because("evt_1"))).toBe(1);
    expect(answers(commented(), event(), because("evt_0"))).toBe(0);
  });
});

describe("an event is taken", () => {
  const taken = (...entries: readonly TimelineEntry[]) => {
    const watch = new Watch(commented());
    for (const one of [event(), ...entries]) watch.see(one);
    return watch.taken;
  };
  const delivery = { kind: "delivery", eventIds: ["evt_1"], ms: 1, attempt: 1, forced: false };
  const poll = { ...request, method: "GET", path: "/events", eventIds: ["evt_0", "evt_1"] };

  test("by a delivery that was answered with 2xx", () => {
    expect(taken(entry({ ...delivery, kind: "delivery", status: 204 }))).toBe(true);
    expect(taken(entry({ ...delivery, kind: "delivery", status: 500, error: "500" }))).toBe(false);
  });

  test("by a page of the log that holds it and was answered", () => {
    expect(taken(entry({ ...poll, kind: "api", id: "call_1", status: 200 }))).toBe(true);
    expect(
      taken(entry({ ...poll, kind: "api", id: "call_1", status: 200, eventIds: ["evt_0"] })),
    ).toBe(false);
    expect(taken(entry({ ...poll, kind: "api", id: "call_1", status: null }))).toBe(false);
  });
});
