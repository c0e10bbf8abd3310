import { describe, expect, test } from "vitest";
import { check, isRepeat, remedyOf } from "../face.ts";

describe("a text to send", () => {
  test("is a batch, other JSON, or none", () => {
    expect(check('{"events":[{},{}]}')).toBe("A batch of 2 events.");
    expect(check('{"events":[{}]}')).toBe("A batch of 1 event.");
    for (const text of ["{}", "null", "7", '{"events":1}']) {
      expect(check(text), text).toContain("not a batch");
    }
    for (const text of ["", "{", "{events:[]}"]) {
      expect(check(text), text).toContain("Not valid JSON");
    }
  });
});

describe("a failed delivery", () => {
  test("has a remedy for the bot's error code", () => {
    const failed = { status: 400, error: "responded with 400" };
    expect(remedyOf({ ...failed, code: "SIGNATURE_STALE" })?.view).toBe("settings");
    expect(remedyOf({ ...failed, code: "OTHER" })).toBeUndefined();
  });

  test("has a remedy for the platform's error or for the status", () => {
    const error = "nothing is listening on 127.0.0.1:3000; is the bot running?";
    expect(remedyOf({ status: null, error })?.text).toMatch(/npm run dev/);
    const late = remedyOf({ status: null, error: "no response within 10000 ms" });
    expect(late?.text).toMatch(/did not respond/);
    const moved = {
      status: 302,
      error: "responded with 302; the platform does not follow redirects",
    };
    expect(remedyOf(moved)?.view).toBe("webhook");
    const mismatch = remedyOf({ status: 401, error: "responded with 401" });
    expect(mismatch?.text).toMatch(/SERVICE_WEBHOOK_SECRET/);
    expect(remedyOf({ status: 502, error: "responded with 502" })?.text).toMatch(/log/);
    expect(remedyOf({ status: null, error: "something else" })).toBeUndefined();
  });

  test("does not blame the bot if a fault caused the failure", () => {
    const failed = { status: 500, error: "responded with 500", fault: "status" };
    expect(remedyOf(failed)).toMatchObject({
      text: expect.stringMatching(/Stop the fault/),
      view: "faults",
    });
  });

  test("control: an accepted delivery needs no remedy", () => {
    expect(remedyOf({ status: 200, fault: "twice" })).toBeUndefined();
  });
});

test("the response to a repeated delivery stores nothing, and reports duplicates", () => {
  expect(isRepeat('{"stored":0,"duplicates":1}')).toBe(true);
  expect(isRepeat('{"stored":1,"duplicates":1}')).toBe(false);
  expect(isRepeat('{"stored":0,"duplicates":0}')).toBe(false);
  expect(isRepeat("<html>")).toBe(false);
  expect(isRepeat(undefined)).toBe(false);
});
