import { describe, expect, test } from "vitest";
import { check, isRepeat, remedyOf } from "../face.ts";

describe("a text that is to be sent", () => {
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

describe("a delivery that failed", () => {
  test("has a remedy by the code that the bot answered with", () => {
    const failed = { status: 400, error: "responded with 400" };
    expect(remedyOf({ ...failed, code: "SIGNATURE_STALE" })?.view).toBe("settings");
    expect(remedyOf({ ...failed, code: "OTHER" })).toBeUndefined();
  });

  test("has one by what the platform says, or by the status", () => {
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

  test("is not held against the bot where a fault did it", () => {
    const failed = { status: 500, error: "responded with 500", fault: "status" };
    expect(remedyOf(failed)).toMatchObject({
      text: expect.stringMatching(/Stop the fault/),
      view: "faults",
    });
  });

  test("control: one that was taken needs none", () => {
    expect(remedyOf({ status: 200, fault: "twice" })).toBeUndefined();
  });
});

test("an answer to a repeat stores nothing, and has duplicates", () => {
  expect(isRepeat('{"stored":0,"duplicates":1}')).toBe(true);
  expect(isRepeat('{"stored":1,"duplicates":1}')).toBe(false);
  expect(isRepeat('{"stored":0,"duplicates":0}')).toBe(false);
  expect(isRepeat("<html>")).toBe(false);
  expect(isRepeat(undefined)).toBe(false);
});
