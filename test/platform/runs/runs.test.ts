import { expect, test } from "vitest";
import { MAX_REPORTED_RUNS, RUNS_PATH } from "../../faces/core.ts";
import type { Platform } from "../../faces/platform.ts";
import { runPlatform } from "../../support/running-bot.ts";

interface Answer {
  readonly status: number;
  readonly body: { readonly accepted?: number; readonly error?: { readonly code: string } };
}

async function report(
  platform: Platform,
  runs: unknown,
  apiKey: string = platform.apiKey,
): Promise<Answer> {
  const response = await fetch(`${platform.url}${RUNS_PATH}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ runs }),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const run = { eventId: "evt_000000000001", attempt: 1, outcome: "done", ms: 3 };

test("reported runs are shown in the timeline and with their event, and the bot counts as reporting", async () => {
  const platform = await runPlatform();
  platform.control.act({ type: "follow", from: "ada" });
  const failed = {
    ...run,
    outcome: "retry",
    retryInMs: 900,
    error: { type: "Error", message: "" },
  };
  const answer = await report(platform, [failed, { ...run, attempt: 2 }]);
  expect(answer).toEqual({ status: 200, body: { accepted: 2 } });
  const { runs } = platform.control.event(run.eventId);
  expect(runs).toMatchObject([
    { kind: "run", bot: "bot", ...failed },
    { kind: "run", bot: "bot", attempt: 2, outcome: "done" },
  ]);
  expect(platform.control.state().reportingBots).toEqual(["bot"]);
});

test("a run of an event that is not in the bot's log is ignored", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "helper" });
  platform.control.act({ type: "follow", from: "ada", to: "helper" });
  const answer = await report(platform, [run, { ...run, eventId: "evt_9" }]);
  expect(answer).toEqual({ status: 200, body: { accepted: 0 } });
});

test("reports need a bot's token and a body in the documented format", async () => {
  const platform = await runPlatform();
  expect(await report(platform, [], "wrong")).toMatchObject({
    status: 401,
    body: { error: { code: "UNAUTHORIZED" } },
  });
  const wrong = [
    [{ ...run, attempt: 0 }],
    [{ ...run, eventId: "e".repeat(10_000) }],
    [{ ...run, outcome: "fine" }],
    [{ ...run, error: { type: "Error", message: "x".repeat(20_000) } }],
    Array.from({ length: MAX_REPORTED_RUNS + 1 }, () => run),
    "none",
  ];
  for (const runs of wrong) {
    expect(await report(platform, runs)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION" } },
    });
  }
  expect(platform.control.state().reportingBots).toEqual([]);
});
