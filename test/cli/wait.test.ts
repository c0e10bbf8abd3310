import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { awaitReaction, failureOf, type Reaction, type WaitInput } from "../faces/cli.ts";
import type { ActInput, TimelineEntry } from "../faces/platform.ts";

const TIMEOUT_MS = 60_000;

/** Time in ms. Each request moves the clock by the wait it asks for. */
let now = 0;

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});

afterEach(() => void vi.restoreAllMocks());

type Fields = Readonly<Record<string, unknown>>;

interface Scene {
  readonly act?: Partial<ActInput>;
  readonly payload?: Fields;
  readonly reportingBots?: readonly string[];
}

/** Returns an action by Ada that creates the event evt_1. By default, she comments on p_1. */
function awaited({ act, payload = { postId: "p_1" }, reportingBots = [] }: Scene): WaitInput {
  const made: ActInput = { type: "comment", from: "ada", ...act };
  const result: unknown = { events: [{ id: "evt_1", type: made.type, payload, createdAt: "" }] };
  const common = { after: 0, timeoutMs: TIMEOUT_MS, reportingBots };
  return { act: made, result: result as WaitInput["result"], ...common };
}

interface Waited {
  readonly reaction: Reaction;
  readonly code: string | undefined;
  readonly ms: number;
  readonly texts: readonly (string | undefined)[];
}

/** Waits on a timeline with only these entries, given in wire format. */
async function waitFor(scene: Scene, ...entries: readonly Fields[]): Promise<Waited> {
  const left = entries.map((entry, index) => {
    const wire: unknown = { seq: index + 1, at: "2026-01-01T00:00:00.000Z", bot: "bot", ...entry };
    return wire as TimelineEntry;
  });
  const timeline = (after: number, waitMs: number) => {
    const [entry] = left.splice(0, 1);
    if (entry === undefined) now += waitMs;
    return Promise.resolve({
      entries: entry === undefined ? [] : [entry],
      last: entry?.seq ?? after,
    });
  };
  const what = awaited(scene);
  const reaction = await awaitReaction({ timeline }, what);
  const texts = reaction.answers.map(({ text }) => text);
  return { reaction, texts, code: failureOf(what, reaction)?.code, ms: now };
}

const outcomeOf = async (scene: Scene, ...entries: readonly Fields[]) =>
  (await waitFor(scene, ...entries)).reaction.outcome;

const happened = (bot = "bot") => ({ kind: "event", id: "evt_1", type: "comment", bot });
const delivered = { kind: "delivery", eventIds: ["evt_1"], status: 200, ms: 1, attempt: 1 };
const request = { kind: "api", id: "call_1", method: "POST", path: "/", status: 201, ms: 1 };

const comment = (postId: string, more: Fields = {}) => ({
  ...{ ...request, text: "thanks", created: { postId, commentId: "cm_2" } },
  ...more,
});

const run = { kind: "run", eventId: "evt_1", attempt: 1, outcome: "done", ms: 1 };
const failed = { ...run, outcome: "retry", retryInMs: 5, error: { type: "Error", message: "no" } };
const putOff = {
  ...{ ...run, outcome: "released", retryInMs: 60_000 },
  error: { type: "RetryLater", message: "not yet" },
};

describe("an answer of a bot that reports nothing", () => {
  test("is what the bot writes in the place of the event, after it", async () => {
    expect(await outcomeOf({}, happened(), comment("p_1"))).toBe("answered");
    expect(await outcomeOf({}, comment("p_1"), happened(), delivered)).toBe("delivered");
    expect(await outcomeOf({}, happened(), delivered, comment("p_2"))).toBe("delivered");
  });

  test("comes from the bot that got the event", async () => {
    const helper = comment("p_1", { bot: "helper" });
    expect(await outcomeOf({}, happened(), helper)).toBe("none");
  });

  test("comes from the named bot, if several got an event", async () => {
    const both = [happened("helper"), happened("bot"), comment("p_1", { bot: "helper" })];
    expect(await outcomeOf({ act: { to: "@Helper" } }, ...both)).toBe("answered");
    expect(await outcomeOf({ act: { to: "bot" } }, ...both)).toBe("delivered");
  });

  test("counts although its own answer was lost", async () => {
    expect(await outcomeOf({}, happened(), comment("p_1", { status: null }))).toBe("answered");
  });

  test("may be below either of the posts of a quote", async () => {
    const quote = { payload: { postId: "p_1", entityType: "post", entityId: "p_7" } };
    expect(await outcomeOf(quote, happened(), comment("p_7"))).toBe("answered");
  });

  test("to an event without a place is a message that mentions the user", async () => {
    const follow = { act: { type: "follow" }, payload: { entityType: "user", entityId: "u_1" } };
    const to = (text: string) => outcomeOf(follow, happened(), comment("p_9", { text }));
    expect(await to("welcome, @Ada.")).toBe("answered");
    expect(await to("welcome, @adam")).toBe("none");
    expect(await to("welcome")).toBe("none");
  });

  test("is awaited as often as something happened", async () => {
    const twice = { act: { count: 2 } };
    expect(await outcomeOf(twice, happened(), delivered, comment("p_1"))).toBe("delivered");
    expect(await outcomeOf(twice, happened(), comment("p_1"), comment("p_1"))).toBe("answered");
  });
});

describe("runs that the bot reports", () => {
  const reporting = { reportingBots: ["bot"] };

  test("end the wait when the event is done, with or without reports of the bot", async () => {
    for (const scene of [reporting, {}]) {
      const { reaction, code, ms } = await waitFor(scene, happened(), run);
      expect({ outcome: reaction.outcome, code, ms }).toEqual({
        ...{ outcome: "handled", code: undefined, ms: 0 },
      });
    }
  });

  test("are awaited after an answer: a handler that has answered can still fail", async () => {
    const { reaction, texts } = await waitFor(reporting, happened(), comment("p_1"), failed);
    expect({ outcome: reaction.outcome, texts }).toEqual({ outcome: "failed", texts: ["thanks"] });
  });

  test("fail with the first that fails, and count for the events and the bot concerned alone", async () => {
    const later = { ...failed, attempt: 2 };
    const { reaction, code } = await waitFor({}, happened(), failed, later);
    expect({ attempt: reaction.run?.attempt, code }).toEqual({
      attempt: 1,
      code: "HANDLER_FAILED",
    });
    expect(await outcomeOf({}, happened(), { ...failed, eventId: "evt_9" })).toBe("none");
    expect(await outcomeOf({}, happened(), { ...failed, bot: "helper" })).toBe("none");
  });

  test("are not failures when they are postponed, and the last run explains why", async () => {
    const again = { ...putOff, attempt: 2 };
    const { reaction, code, ms } = await waitFor(reporting, happened(), delivered, putOff, again);
    expect(reaction).toMatchObject({
      ...{ outcome: "delivered", isUnfinished: true, run: { outcome: "released", attempt: 2 } },
    });
    expect({ code, ms }).toEqual({ code: "NO_ANSWER", ms: TIMEOUT_MS });
    expect(failureOf(awaited(reporting), reaction)?.message).toContain("not yet");
    const done = { ...run, attempt: 3 };
    expect(await outcomeOf(reporting, happened(), putOff, again, done)).toBe("handled");
  });

  test("are awaited from every bot concerned", async () => {
    const both = [happened("bot"), happened("helper")];
    expect(await outcomeOf(reporting, ...both, run)).toBe("delivered");
    expect(await outcomeOf(reporting, ...both, run, { ...run, bot: "helper" })).toBe("handled");
  });

  test("come with requests that name their event, so that no place decides", async () => {
    const because = (eventId: string) => comment("p_1", { eventId });
    const answers = async (eventId: string) =>
      (await waitFor(reporting, happened(), because(eventId), run)).texts;
    expect(await answers("evt_1")).toEqual(["thanks"]);
    expect(await answers("evt_0")).toEqual([]);
    const guessed = comment("p_1", { eventId: "evt_0", guessed: true });
    expect((await waitFor({}, happened(), guessed)).texts).toEqual(["thanks"]);
  });
});

describe("an event is taken", () => {
  const poll = { ...request, method: "GET", path: "/events", status: 200, eventIds: ["evt_1"] };

  test("by a delivery that was answered with 2xx", async () => {
    expect(await outcomeOf({}, happened(), { ...delivered, status: 204 })).toBe("delivered");
    const refused = { ...delivered, status: 500, error: "500" };
    expect(await outcomeOf({}, happened(), refused)).toBe("none");
  });

  test("by no program on a port without one, so the error names the port", async () => {
    const error = "nothing is listening on 127.0.0.1:3000; is the bot running?";
    const unreachable = { ...delivered, status: null, error };
    const { reaction } = await waitFor({}, happened(), unreachable);
    expect(failureOf(awaited({}), reaction)?.message).toMatch(
      /^Nothing listens on 127\.0\.0\.1:3000\. /,
    );
  });

  test("by a page of the log that holds it and was answered", async () => {
    expect(await outcomeOf({}, happened(), poll)).toBe("delivered");
    expect(await outcomeOf({}, happened(), { ...poll, eventIds: ["evt_0"] })).toBe("none");
    expect(await outcomeOf({}, happened(), { ...poll, status: null })).toBe("none");
  });
});

describe("a wait for the bot", () => {
  test("ends in vain when the time is over and no bot has taken the event", async () => {
    const { reaction, code, ms } = await waitFor({}, happened());
    expect({ outcome: reaction.outcome, code, ms }).toEqual({
      ...{ outcome: "none", code: "NO_ANSWER", ms: TIMEOUT_MS },
    });
  });

  test("ends in vain without its own answer, even if the bot writes elsewhere", async () => {
    const { reaction, code } = await waitFor({}, happened(), delivered, comment("p_2"));
    expect(reaction).toMatchObject({ outcome: "delivered", answers: [] });
    expect(code).toBe("NO_ANSWER");
  });

  test("ends soon, and well, when an event that bots rarely answer was delivered and no runs are reported", async () => {
    const like = { act: { type: "like" } };
    const { reaction, code, ms } = await waitFor(like, happened(), delivered);
    expect({ outcome: reaction.outcome, code }).toEqual({ outcome: "delivered", code: undefined });
    expect(ms).toBeLessThan(TIMEOUT_MS);
  });
});
