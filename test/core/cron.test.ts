import { describe, expect, test } from "vitest";
import { CronPattern } from "../faces/core.ts";

const DAY_MS = 86_400_000;

function momentsOf(pattern: string, timeZone: string, from: string, until: string): string[] {
  const cron = new CronPattern(pattern, timeZone);
  const moments: string[] = [];
  let at = cron.after(Date.parse(from) - 1);
  while (at !== undefined && at < Date.parse(until)) {
    moments.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
    at = cron.after(at);
  }
  return moments;
}

const PARIS = "Europe/Paris";

describe("when the clocks go forward (Paris, 29 March 2026, 02:00 to 03:00)", () => {
  const day = ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"] as const;

  test.each([
    // A tick in the gap moves to the first valid time after it.
    ["30 2 * * *", ["2026-03-29T01:00Z"]],
    ["0 2 * * *", ["2026-03-29T01:00Z"]],
    ["59 1 * * *", ["2026-03-29T00:59Z"]],
    ["0 3 * * *", ["2026-03-29T01:00Z"]],
    // Several ticks in the gap become one.
    ["0,30 2 * * *", ["2026-03-29T01:00Z"]],
    ["30 2,14 * * *", ["2026-03-29T01:00Z", "2026-03-29T12:30Z"]],
    // An interval skips the hour that the clock skips.
    ["*/20 2 * * *", []],
    [
      "0 */6 * * *",
      ["2026-03-28T23:00Z", "2026-03-29T04:00Z", "2026-03-29T10:00Z", "2026-03-29T16:00Z"],
    ],
  ])("%s", (pattern, moments) => {
    expect(momentsOf(pattern, PARIS, ...day)).toEqual(moments);
  });

  test("an hourly pattern is due 23 times", () => {
    expect(momentsOf("0 * * * *", PARIS, ...day)).toHaveLength(23);
  });
});

describe("when the clocks go back (Paris, 25 October 2026, 03:00 to 02:00)", () => {
  const day = ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"] as const;

  test.each([
    // A tick at a repeated time is due only at its first occurrence.
    ["30 2 * * *", ["2026-10-25T00:30Z"]],
    ["0 2 * * *", ["2026-10-25T00:00Z"]],
    ["0 3 * * *", ["2026-10-25T02:00Z"]],
    ["0,30 2 * * *", ["2026-10-25T00:00Z", "2026-10-25T00:30Z"]],
    // An interval is due in both occurrences of the hour.
    [
      "*/30 2 * * *",
      ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z"],
    ],
  ])("%s", (pattern, moments) => {
    expect(momentsOf(pattern, PARIS, ...day)).toEqual(moments);
  });

  test("an hourly pattern is due 25 times", () => {
    expect(momentsOf("0 * * * *", PARIS, ...day)).toHaveLength(25);
  });
});

test.each([
  [
    "America/Sao_Paulo, where midnight is in the gap",
    "0 0 * * *",
    "America/Sao_Paulo",
    "2018-11-04",
  ],
  ["Africa/Cairo, where midnight is in the gap", "15 0 * * *", "Africa/Cairo", "2026-04-24"],
  ["Lord Howe, whose gap has half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-04"],
])("a daily pattern is due once a day in %s", (_name, pattern, timeZone, changes) => {
  const from = Date.parse(`${changes}T00:00:00Z`) - 5 * DAY_MS;
  const moments = momentsOf(
    pattern,
    timeZone,
    new Date(from).toISOString(),
    new Date(from + 10 * DAY_MS).toISOString(),
  );
  const dateOf = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
  const dates = moments.map((at) => dateOf.format(new Date(at)));
  expect(dates).toHaveLength(10);
  expect(new Set(dates).size).toBe(10);
});

test("six fields have seconds", () => {
  expect(
    momentsOf("*/20 0 9 * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
  ).toEqual(["2026-01-01T09:00Z", "2026-01-01T09:00:20.000Z", "2026-01-01T09:00:40.000Z"]);
});

test.each([
  ["30 2 * * *", PARIS],
  ["0,30 2 * * *", PARIS],
  ["*/20 * * * *", PARIS],
  ["15 2 * * *", "Australia/Lord_Howe"],
  ["0 0 * * *", "America/Sao_Paulo"],
])("the last moment up to a time is the one that comes before it: %s %s", (pattern, timeZone) => {
  const cron = new CronPattern(pattern, timeZone);
  let last = cron.after(Date.parse("2018-01-01T00:00:00Z")) ?? Number.NaN;
  for (let n = 0; n < 1_500; n++) {
    const next = cron.after(last) ?? Number.NaN;
    expect(cron.upTo(last)).toBe(last);
    expect(cron.upTo(next - 1)).toBe(last);
    last = next;
  }
});

test.each([
  ["* * *", "UTC"],
  ["61 * * * *", "UTC"],
  ["0 0 30 2 *", "UTC"],
  ["every day", "UTC"],
  ["", "UTC"],
  [5, "UTC"],
  ["0 0 * * * * 2030", "UTC"],
])("%j is refused", (pattern, timeZone) => {
  const make = () => new CronPattern(pattern as string, timeZone);
  expect(make).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  expect(make).toThrow(/is not a cron pattern with five or six fields: .+[^.]\.$/);
});

test.each(["Mars/Olympus", "", 5, null])("the time zone %j is refused", (timeZone) => {
  expect(() => new CronPattern("0 9 * * *", timeZone as string)).toThrow(
    /^timeZone must be an IANA name such as "Europe\/Paris"/,
  );
});
