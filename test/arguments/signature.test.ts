import { describe, expect, test } from "vitest";
import { GiveUp, RetryLater, ServiceBotError, sign, verify } from "../../src/index.ts";
import { type Argument, mistakesOf, optionsOf } from "../support/wrong-values.ts";

const body = Buffer.from("{}");
const options = { secrets: ["whsec_a"], now: 1_000_000 };

const calls: Readonly<Record<string, readonly Argument[]>> = {
  sign: [
    { name: "body", accepts: ["string"], call: (value) => sign(value, "s", 1) },
    { name: "secret", accepts: ["string"], call: (value) => sign(body, value, 1) },
    { name: "timestamp", accepts: ["number"], call: (value) => sign(body, "s", value) },
  ],
  verify: [
    { name: "body", accepts: ["string"], call: (value) => verify(value, "t=1,v1=a", options) },
    { name: "options", accepts: ["object"], call: (value) => verify(body, "t=1,v1=a", value) },
    ...optionsOf({ secrets: ["array"], now: ["number"] }, (given: object) => {
      return verify(body, "t=1,v1=a", { ...options, ...given });
    }),
  ],
  RetryLater: [{ name: "delay", accepts: ["number"], call: (value) => new RetryLater(value) }],
};

describe.each(Object.entries(calls))("%s refuses a wrong value by name", (_, list) => {
  test.each(list)("$name", async (argument) => {
    expect(await mistakesOf(argument)).toEqual([]);
  });
});

test("a header of any type is a malformed signature, because a sender chooses it", async () => {
  const call = (header: never) => expect(verify(body, header, options).ok).toBe(false);
  expect(await mistakesOf({ name: "", accepts: [], call })).toEqual([]);
});

test.each([
  ["RetryLater", (reason: never, more: never) => new RetryLater(1, reason, more)],
  ["GiveUp", (reason: never, more: never) => new GiveUp(reason, more)],
])("%s has its meaning whatever the reason and the options are", async (_, make) => {
  const reasons = (reason: never) =>
    expect(make(reason, undefined as never)).toBeInstanceOf(ServiceBotError);
  const others = (more: never) =>
    expect(make("why" as never, more)).toBeInstanceOf(ServiceBotError);
  for (const call of [reasons, others]) {
    expect(await mistakesOf({ name: "", accepts: [], call })).toEqual([]);
  }
});
