import { expect, test } from "vitest";
import type { ScopeAnswer } from "../faces/client.ts";
import { ManualClock } from "../platform/support/clock.ts";
import { Access, Tokens } from "./face.ts";

const MINUTE_MS = 60_000;

function remembered() {
  const clock = new ManualClock();
  const answers = new Map<string, ScopeAnswer | Promise<ScopeAnswer>>();
  const asked: string[] = [];
  const tokens = new Tokens({
    clock,
    newAccess: () => new Access({ clock }),
    lookUp: async (token) => {
      asked.push(token);
      return await (answers.get(token) ?? "refused");
    },
  });
  const check = async (token: string) => {
    const answer = await tokens.check(token);
    return answer instanceof Access ? "accepted" : answer;
  };
  return { clock, answers, asked, check, tokens };
}

test("simultaneous checks of a token share one request, and so do later ones for a minute", async () => {
  const { clock, answers, asked, check } = remembered();
  answers.set("good", "yes");
  await Promise.all([check("good"), check("good"), check("bad"), check("bad")]);
  clock.advance(MINUTE_MS - 1);
  expect([await check("good"), await check("bad")]).toEqual(["accepted", "refused"]);
  expect(asked).toEqual(["good", "bad"]);
  clock.advance(1);
  expect([await check("good"), await check("bad")]).toEqual(["accepted", "refused"]);
  expect(asked).toEqual(["good", "bad", "good", "bad"]);
});

test("a token that became good is accepted, and one that was revoked is not, each within a minute", async () => {
  const { clock, answers, check } = remembered();
  answers.set("old", "yes");
  expect([await check("old"), await check("new")]).toEqual(["accepted", "refused"]);
  answers.set("old", "refused").set("new", "no");
  clock.advance(MINUTE_MS);
  expect([await check("old"), await check("new")]).toEqual(["refused", "accepted"]);
});

test("a token keeps its access from look-up to look-up", async () => {
  const { clock, answers, tokens } = remembered();
  answers.set("good", "yes");
  const access = await tokens.check("good");
  clock.advance(MINUTE_MS);
  expect(await tokens.check("good")).toBe(access);
});

test("an accepted token stays in the cache, however many unknown tokens arrive", async () => {
  const { answers, asked, check, tokens } = remembered();
  answers.set("good", "yes");
  await check("good");
  for (let n = 0; n < 2_000; n++) await check(`stranger${n}`);
  asked.length = 0;
  expect([await check("good"), tokens.isFamiliar("good")]).toEqual(["accepted", true]);
  expect(asked).toEqual([]);
  // The cache forgets the oldest unknown tokens, and keeps the newest.
  await check("stranger1999");
  expect(asked).toEqual([]);
  await check("stranger0");
  expect(asked).toEqual(["stranger0"]);
});

test("while the platform cannot answer, a familiar token goes on, and a stranger does not", async () => {
  const { clock, answers, asked, check } = remembered();
  answers.set("good", "yes");
  await check("good");
  answers.set("good", "unknown").set("other", "unknown");
  clock.advance(MINUTE_MS);
  expect([await check("good"), await check("other")]).toEqual(["accepted", "unknown"]);
  answers.set("good", "refused").set("other", "yes");
  expect(await check("other")).toBe("accepted");
  clock.advance(MINUTE_MS);
  expect(await check("good")).toBe("refused");
  expect(asked).toEqual(["good", "good", "other", "other", "good"]);
});
