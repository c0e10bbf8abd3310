import { expect, test } from "vitest";
import { logFormatter } from "../faces/cli.ts";

const webhook = "http://127.0.0.1:3000/webhook";

test('the line "ready" shows the duration of the start, and an unusual URL', async () => {
  let now = 0;
  const format = await logFormatter({ colour: false, webhook, now: () => now });
  const ready = JSON.stringify({ level: "info", msg: "ready", webhook });
  now = 240;
  expect(format(ready)).toMatch(/^\d\d:\d\d:\d\d bot ready 0\.2 s$/);
  const other = JSON.stringify({
    level: "info",
    msg: "ready",
    webhook: "http://127.0.0.1:1/webhook",
  });
  expect(format(other)).toMatch(/ bot ready 0\.2 s {2}http:\/\/127\.0\.0\.1:1\/webhook$/);
});

test("a failed run has no separate line if the bot reports it, unless a stop cut the run short", async () => {
  let isReporting = false;
  const format = await logFormatter({ colour: false, webhook, isReporting: () => isReporting });
  const failed = {
    level: "warn",
    event: "evt_1",
    attempt: 1,
    retryInMs: 900,
    msg: "attempt failed",
  };
  const at = (fields: object) =>
    JSON.stringify({ time: 0, ...failed, err: { message: "" }, ...fields });
  expect(format(at({}))).toContain("attempt failed");
  isReporting = true;
  expect(format(at({}))).toBeUndefined();
  expect(format(at({ level: "error", msg: "dead letter", retryInMs: undefined }))).toBeUndefined();
  expect(format(at({ err: { code: "NOT_READY" } }))).toContain("attempt failed");
  expect(format(at({ err: undefined, msg: "lease lost" }))).toContain("lease lost");
});

test("lines of the bot are for people, those that the timeline has shown are left out, others stay", async () => {
  const format = await logFormatter({ colour: false, webhook });
  const at = (fields: object) => JSON.stringify({ level: "info", time: 0, ...fields });
  expect(format(at({ msg: "polled", found: 1 }))).toContain('bot polled {"found":1}');
  for (const msg of ["delivery", "handled", "api"]) expect(format(at({ msg }))).toBeUndefined();
  expect(format(at({ msg: "api", level: "warn" }))).toContain("bot api");
  expect(format("console.log of a handler")).toBe("console.log of a handler");
});
