import { expect, test } from "vitest";
import type { ScopeAnswer } from "../faces/client.ts";
import { Access, TokenRegistry } from "../faces/mcp.ts";
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

/** Resolves to "waits" if the promise does not settle without the platform. */
function atOnce<T>(promise: Promise<T>): Promise<T | "waits"> {
  const later = new Promise<"waits">((resolve) => setImmediate(() => resolve("waits")));
  return Promise.race([promise, later]);
}

test("simultaneous checks of a token share one request, and so do later ones within half a minute", async () => {
  const { clock, answers, asked, check } = registry();
  answers.set("good", "yes");
  await Promise.all([check("good"), check("good"), check("bad"), check("bad")]);
  clock.advance(MINUTE_MS / 2 - 1);
  expect([await check("good"), await check("bad")]).toEqual(["accepted", "refused"]);
  expect(asked).toEqual(["good", "bad"]);
  clock.advance(MINUTE_MS / 2 + 1);
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

test("familiar tokens that are looked up again take no place of an unfamiliar one", async () => {
  const { clock, answers, check } = registry();
  const clients = Array.from({ length: 40 }, (_, n) => `client${n}`);
  for (const client of clients) {
    answers.set(client, "yes");
    await check(client);
    answers.set(client, new Promise(() => undefined));
  }
  clock.advance(MINUTE_MS / 2);
  for (const client of clients) expect(await atOnce(check(client))).toBe("accepted");
  answers.set("new", "yes");
  expect(await check("new")).toBe("accepted");
});

test("of unfamiliar tokens sixty a minute are looked up in vain, and accepted ones do not count", async () => {
  const { clock, answers, asked, check, tokens } = registry();
  for (let n = 0; n < 100; n++) {
    answers.set(`client${n}`, "yes");
    expect(await check(`client${n}`)).toBe("accepted");
  }
  asked.length = 0;
  for (let n = 0; n < 300; n++) await check(`stranger${n}`);
  expect(asked).toHaveLength(60);
  clock.advance(20_000);
  expect(await tokens.check("another")).toEqual({ answer: "busy", retryAfterMs: 40_000 });
  expect([await check("client7"), await check("stranger7")]).toEqual(["accepted", "refused"]);
  clock.advance(40_000);
  expect(await check("another")).toBe("refused");
  expect(await check("client7")).toBe("accepted");
});

test("of requests with unfamiliar tokens 512 wait at most, and a familiar one still may", async () => {
  const { clock, answers, check } = registry();
  answers.set("good", "yes");
  await check("good");
  clock.advance(MINUTE_MS);
  const held = Promise.withResolvers<ScopeAnswer>();
  answers.set("stranger", held.promise);
  const waiting = Array.from({ length: 512 }, () => check("stranger"));
  expect([await atOnce(check("stranger")), await check("good")]).toEqual(["busy", "accepted"]);
  held.resolve("refused");
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["refused"]));
});

test("however many strangers come, a token that was accepted stays known", async () => {
  const { clock, answers, asked, check } = registry();
  answers.set("good", "yes");
  await check("good");
  for (let n = 0; n < 2_000; n++) {
    if (n % 60 === 0) clock.advance(MINUTE_MS);
    await check(`stranger${n}`);
  }
  await check("good");
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
  answers.set("good", "yes").set("other", "yes");
  clock.advance(5_000);
  expect([await check("good"), await check("other")]).toEqual(["accepted", "accepted"]);
  expect(asked).toEqual(["good", "good", "other", "good", "other"]);
});

test("while the platform hangs, a familiar token waits for none of the look-ups", async () => {
  const { clock, answers, asked, check } = registry();
  answers.set("good", "yes");
  await check("good");
  for (let seconds = 0; seconds < 300; seconds += 10) {
    const held = Promise.withResolvers<ScopeAnswer>();
    answers.set("good", held.promise);
    clock.advance(5_000);
    expect(await atOnce(check("good"))).toBe("accepted");
    clock.advance(5_000);
    held.resolve("unknown");
    expect(await atOnce(check("good"))).toBe("accepted");
    await new Promise(setImmediate);
  }
  expect(asked.length).toBeGreaterThan(20);
});

test("a definite refusal ends a token at once, also after answers that were none", async () => {
  const { clock, answers, check } = registry();
  answers.set("good", "yes");
  await check("good");
  answers.set("good", "unknown");
  clock.advance(MINUTE_MS);
  expect(await check("good")).toBe("accepted");
  answers.set("good", "refused");
  clock.advance(5_000);
  await check("good");
  expect(await check("good")).toBe("refused");
});

test("a token that was not used for a minute waits for the platform's answer, also after an outage", async () => {
  const { clock, answers, check } = registry();
  answers.set("good", "yes");
  await check("good");
  answers.set("good", "unknown");
  clock.advance(MINUTE_MS);
  expect(await check("good")).toBe("accepted");
  answers.set("good", "refused");
  clock.advance(MINUTE_MS);
  expect(await check("good")).toBe("refused");
});

test("a token that the platform has not confirmed for ten minutes opens nothing until it does", async () => {
  const { clock, answers, check } = registry();
  answers.set("good", "yes");
  await check("good");
  answers.set("good", "unknown");
  const found: string[] = [];
  for (let minutes = 1; minutes <= 12; minutes++) {
    clock.advance(MINUTE_MS);
    found.push(await check("good"));
  }
  expect(found).toEqual([...Array(9).fill("accepted"), ...Array(3).fill("undecided")]);
  answers.set("good", "yes");
  clock.advance(5_000);
  expect(await check("good")).toBe("accepted");
});
