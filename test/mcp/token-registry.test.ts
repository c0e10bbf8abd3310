import { expect, test } from "vitest";
import type { ScopeAnswer } from "../../src/client/scopes.ts";
import { Access } from "../../src/mcp/access.ts";
import { TokenRegistry } from "../../src/mcp/http/token-registry.ts";
import { ManualClock } from "../platform/support/clock.ts";

const MINUTE_MS = 60_000;

/** A registry, and the platform that it asks. */
function registry() {
  const clock = new ManualClock();
  const answers = new Map<string, ScopeAnswer | Promise<ScopeAnswer>>();
  const asked: string[] = [];
  const tokens = new TokenRegistry({
    clock,
    newAccess: () => new Access({ clock }),
    lookUp: async (token) => {
      asked.push(token);
      return await (answers.get(token) ?? "refused");
    },
  });
  const check = async (token: string) => (await tokens.check(token)).answer;
  return { clock, answers, asked, check, tokens };
}

test("simultaneous checks of a token share one request, and so do later ones within a minute", async () => {
  const { clock, answers, asked, check } = registry();
  answers.set("good", "yes");
  await Promise.all([check("good"), check("good"), check("bad"), check("bad")]);
  clock.advance(MINUTE_MS - 1);
  expect([await check("good"), await check("bad")]).toEqual(["accepted", "refused"]);
  expect(asked).toEqual(["good", "bad"]);
  clock.advance(1);
  expect([await check("good"), await check("bad")]).toEqual(["accepted", "refused"]);
  expect(asked).toEqual(["good", "bad", "good", "bad"]);
});

test("a token that became good is accepted, and one that was revoked is not", async () => {
  const { clock, answers, check } = registry();
  answers.set("old", "yes");
  expect([await check("old"), await check("new")]).toEqual(["accepted", "refused"]);
  answers.set("old", "refused").set("new", "no");
  clock.advance(MINUTE_MS);
  expect([await check("old"), await check("new")]).toEqual(["refused", "accepted"]);
});

test("of unfamiliar tokens sixteen are looked up at once, and a familiar one waits for none of them", async () => {
  const { clock, answers, asked, check, tokens } = registry();
  answers.set("familiar", "yes");
  await check("familiar");
  clock.advance(MINUTE_MS);
  const held = Promise.withResolvers<ScopeAnswer>();
  const strangers = Array.from({ length: 40 }, (_, n) => `stranger${n}`);
  for (const stranger of strangers) answers.set(stranger, held.promise);
  const checks = strangers.map((stranger) => tokens.check(stranger));
  expect(asked).toHaveLength(17);
  expect(await check("familiar")).toBe("accepted");
  expect(asked).toHaveLength(18);
  held.resolve("refused");
  const found = (await Promise.all(checks)).map(({ answer }) => answer);
  expect(found.slice(0, 16)).toEqual(Array(16).fill("refused"));
  expect(found.slice(16)).toEqual(Array(24).fill("busy"));
});

test("however many strangers come, a token that was accepted stays known", async () => {
  const { answers, asked, check } = registry();
  answers.set("good", "yes");
  await check("good");
  for (let n = 0; n < 2_000; n++) await check(`stranger${n}`);
  asked.length = 0;
  expect(await check("good")).toBe("accepted");
  expect(asked).toEqual([]);
  // The strangers of whom there were too many are forgotten, the last ones are not.
  await check("stranger1999");
  expect(asked).toEqual([]);
  await check("stranger0");
  expect(asked).toEqual(["stranger0"]);
});

test("while the platform cannot say, a familiar token goes on, and it is asked again after five seconds", async () => {
  const { clock, answers, asked, check } = registry();
  answers.set("good", "yes");
  await check("good");
  answers.set("good", "unknown").set("other", "unknown");
  clock.advance(MINUTE_MS);
  for (let n = 0; n < 3; n++) {
    expect([await check("good"), await check("other")]).toEqual(["accepted", "undecided"]);
  }
  expect(asked).toEqual(["good", "good", "other"]);
  answers.set("good", "refused").set("other", "yes");
  clock.advance(5_000);
  expect([await check("good"), await check("other")]).toEqual(["refused", "accepted"]);
});
