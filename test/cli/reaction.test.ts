import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Awaited, awaitReaction, failureOf, type Reaction } from "../faces/cli.ts";
import type { ActInput, TimelineEntry } from "../faces/platform.ts";

const TIMEOUT_MS = 60_000;

/** In ms. The clock of a wait moves by what the platform is asked to wait. */
let now = 0;

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});

afterEach(() => void vi.restoreAllMocks());

/** Ada does something that becomes one event, for a bot that reports its runs or does not. */
function awaited(type: "dm.message" | "like", reportingBots: readonly string[] = []): Awaited {
  const act: ActInput = { type, from: "ada" };
  const event = { id: "evt_1", type, payload: {}, createdAt: "" };
  const result: unknown = { events: [event], conversationId: "c_1" };
  return {
    act,
    result: result as Awaited["result"],
    after: 0,
    timeoutMs: TIMEOUT_MS,
    reportingBots,
  };
}

/** Entries of the timeline as they come over the wire. Nothing else happens afterwards. */
async function reactionTo(
  awaited: Awaited,
  ...entries: readonly Readonly<Record<string, unknown>>[]
): Promise<{
  readonly reaction: Reaction;
  readonly code: string | undefined;
  readonly ms: number;
}> {
  const happened = { kind: "event", id: "evt_1", type: awaited.act.type, conversationId: "c_1" };
  const left = [happened, ...entries].map((entry, index) => {
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
  const reaction = await awaitReaction({ timeline }, awaited);
  return { reaction, code: failureOf(awaited, reaction)?.code, ms: now };
}

const delivered = { kind: "delivery", eventIds: ["evt_1"], status: 200, ms: 1, attempt: 1 };
const putOff = {
  ...{ kind: "run", eventId: "evt_1", attempt: 1, outcome: "released", retryInMs: 60_000, ms: 1 },
  error: { type: "RetryLater", message: "not yet" },
};

describe("a wait for the bot", () => {
  test("ends in vain when the time is over and no bot has taken the event", async () => {
    const { reaction, code, ms } = await reactionTo(awaited("dm.message"));
    expect({ outcome: reaction.outcome, code, ms }).toEqual({
      ...{ outcome: "none", code: "NO_ANSWER", ms: TIMEOUT_MS },
    });
  });

  test("ends in vain without an answer of its own, whatever is said elsewhere", async () => {
    const created = { conversationId: "c_2", messageId: "m_1" };
    const elsewhere = { kind: "api", method: "POST", path: "/", status: 201, text: "hi", created };
    const { reaction, code } = await reactionTo(awaited("dm.message"), delivered, elsewhere);
    expect(reaction).toMatchObject({ outcome: "delivered", answers: [] });
    expect(code).toBe("NO_ANSWER");
  });

  test("ends soon, and well, when an event that bots rarely answer was delivered and no runs are reported", async () => {
    const { reaction, code, ms } = await reactionTo(awaited("like"), delivered);
    expect({ outcome: reaction.outcome, code }).toEqual({ outcome: "delivered", code: undefined });
    expect(ms).toBeLessThan(TIMEOUT_MS);
  });

  test("ends in vain with the run that is still put off when the time is over", async () => {
    const like = awaited("like", ["bot"]);
    const { reaction, code, ms } = await reactionTo(like, delivered, putOff);
    expect(reaction).toMatchObject({
      ...{ outcome: "delivered", isUnfinished: true, run: { outcome: "released" } },
    });
    expect({ code, ms }).toEqual({ code: "NO_ANSWER", ms: TIMEOUT_MS });
    expect(failureOf(like, reaction)?.message).toContain("not yet");
  });
});
