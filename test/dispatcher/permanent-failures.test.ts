import { describe, expect, test } from "vitest";
import { apiErrorOf } from "../faces/client.ts";
import { GiveUp, RetryLater, ServiceBotError } from "../faces/errors.ts";
import { deadLetters } from "../support/dead-letters.ts";
import { messages } from "../support/inbox-events.ts";
import { harness } from "./harness.ts";

const refusal = (platformCode: string, status = 400) =>
  apiErrorOf("refused", { status, platformCode });

const permanent = [
  ...["VALIDATION", "EMPTY", "TOO_LONG", "TOO_LARGE", "TOO_MANY_IMAGES"].map((code) =>
    refusal(code),
  ),
  ...["GROUP_UNSUPPORTED", "INVALID_IMAGE_KEY"].map((code) => refusal(code)),
  ...["AGENT_SCOPE_MISSING", "BLOCKED"].map((code) => refusal(code, 403)),
  refusal("NOT_FOUND", 404),
  new ServiceBotError("REPLY_IMPOSSIBLE", "x"),
  new ServiceBotError("STEP_DUPLICATE", "x"),
  new ServiceBotError("INVALID_OPTION", "x"),
  new ServiceBotError("INVALID_ID", "x"),
  new ServiceBotError("NEXT_CALLED_TWICE", "x"),
  new ServiceBotError("UNKNOWN_EVENT_TYPE", "x"),
];

const transient = [
  refusal("BLOCKED_HOST"),
  refusal("NOT_IMAGE"),
  refusal("SOMETHING_NEW"),
  new ServiceBotError("API_INVALID_RESPONSE", "x"),
  new Error("of the handler"),
];

const nameOf = (error: Error) => ("code" in error ? String(error.code) : error.name);
const named = (errors: readonly Error[]) => errors.map((error) => ({ code: nameOf(error), error }));

describe("an error that no retry can fix", () => {
  test.each(named(permanent))(
    "$code makes a dead letter of the first run, and the lane goes on at once",
    async ({ error }) => {
      const runs: string[] = [];
      const { inbox, dispatcher } = harness(({ event, claim: { attempt } }) => {
        runs.push(`${event.id}#${attempt}`);
        if (event.id === "1") throw error;
      });
      await inbox.put(messages("1", "2"), "webhook");
      await dispatcher.idle();
      expect(runs).toEqual(["1#1", "2#1"]);
      expect(await deadLetters(inbox)).toMatchObject([{ id: "1", attempts: 1 }]);
    },
  );

  test("also decides where it is the cause of an error of the handler's own", async () => {
    const { inbox, dispatcher } = harness(() => {
      throw new Error("no answer was given", { cause: refusal("BLOCKED", 403) });
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(await deadLetters(inbox)).toMatchObject([{ id: "1", attempts: 1 }]);
  });

  test("does not end a handler that catches it", async () => {
    const { inbox, dispatcher } = harness(async () => {
      await Promise.reject(refusal("TOO_LONG")).catch(() => "shorter");
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ done: 1, dead: 0 });
  });

  test("is tried again where the handler asks for it with RetryLater", async () => {
    const attempts: number[] = [];
    const { inbox, dispatcher, clock } = harness(({ claim: { attempt } }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new RetryLater(5_000, "soon", { cause: refusal("NOT_FOUND", 404) });
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    await clock.advance(5_000);
    await dispatcher.idle();
    expect(attempts).toEqual([1, 2]);
    expect(await inbox.stats()).toMatchObject({ done: 1, dead: 0 });
  });

  test("waits for the platform where an earlier try of the same write met an outage", async () => {
    const outage = apiErrorOf("away", { status: 503 });
    const { inbox, dispatcher } = harness(() => {
      throw apiErrorOf("refused", { status: 400, platformCode: "EMPTY", cause: outage });
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ pending: 1, dead: 0 });
  });
});

describe("an error that a retry may fix", () => {
  test.each(named(transient))("$code is tried again", async ({ error }) => {
    const attempts: number[] = [];
    const { inbox, dispatcher, clock } = harness(({ claim: { attempt } }) => {
      attempts.push(attempt);
      if (attempt === 1) throw error;
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    await clock.advance(10_000);
    await dispatcher.idle();
    expect(attempts).toEqual([1, 2]);
  });

  test.each([
    { name: "a refusal", cause: refusal("NOT_IMAGE") },
    { name: "an outage of the platform", cause: apiErrorOf("away", { status: 503 }) },
  ])("ends at once where the handler gives up because of it: $name", async ({ cause }) => {
    const { inbox, dispatcher } = harness(() => {
      throw new GiveUp("no picture", { cause });
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(await deadLetters(inbox)).toMatchObject([{ id: "1", attempts: 1 }]);
  });
});
