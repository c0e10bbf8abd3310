import { expect, test } from "vitest";
import type { ScopeAnswer } from "../faces/client.ts";
import type { Scope } from "../faces/core.ts";
import { Access, allTools, TokenRefused } from "../faces/mcp.ts";
import { ManualClock } from "../platform/support/clock.ts";

const MINUTE_MS = 60_000;

type Answers = Readonly<Record<Scope, ScopeAnswer>>;

const all: Answers = { read: "yes", "posts:write": "yes", "comments:write": "yes", dm: "yes" };

/** The access of a token at a platform with these answers, which counts its requests. */
function watched(answers: Answers) {
  const clock = new ManualClock();
  const access = new Access({ clock });
  const platform = { answers, asked: 0 };
  const probe = () => {
    platform.asked += 1;
    return Promise.resolve(platform.answers);
  };
  const scopes = async () => [...(await access.scopes(probe))];
  return { clock, access, platform, probe, scopes };
}

test("however many want to know at once, the platform is asked once, and again after five minutes", async () => {
  const { clock, platform, scopes } = watched(all);
  await Promise.all([scopes(), scopes(), scopes()]);
  clock.advance(5 * MINUTE_MS - 1);
  await scopes();
  expect(platform.asked).toBe(1);
  platform.answers = { ...all, dm: "no" };
  clock.advance(1);
  expect(await scopes()).not.toContain("dm");
  expect(platform.asked).toBe(2);
});

test("where the platform cannot say, what was known stays, and it is asked again after a minute", async () => {
  const { clock, platform, scopes } = watched({ ...all, dm: "no" });
  const known = await scopes();
  platform.answers = {
    read: "unknown",
    "posts:write": "unknown",
    "comments:write": "unknown",
    dm: "unknown",
  };
  clock.advance(5 * MINUTE_MS);
  expect(await scopes()).toEqual(known);
  clock.advance(MINUTE_MS - 1);
  await scopes();
  expect(platform.asked).toBe(2);
  clock.advance(1);
  await scopes();
  expect(platform.asked).toBe(3);
});

test("a scope that is lost during a probe stays lost, because the answer may be older", async () => {
  const { access, platform, scopes } = watched(all);
  await scopes();
  const answer = Promise.withResolvers<Answers>();
  const later = new Access();
  const found = later.scopes(() => answer.promise);
  later.lost(["dm"]);
  answer.resolve(platform.answers);
  expect([...(await found)]).not.toContain("dm");
  expect([...(await access.scopes(() => answer.promise))]).toContain("dm");
});

test("a refused token is probed anew each time", async () => {
  const refused = {
    read: "refused",
    "posts:write": "refused",
    "comments:write": "refused",
    dm: "refused",
  } as const;
  const { platform, scopes } = watched(refused);
  await expect(scopes()).rejects.toThrow(TokenRefused);
  platform.answers = all;
  expect(await scopes()).toHaveLength(4);
});

test("scopes that were given are a limit: nothing is asked, and nothing beyond them is allowed", async () => {
  const access = new Access({ given: ["read"] });
  const probe = () => Promise.reject(new Error("nothing is probed"));
  expect([...(await access.scopes(probe))]).toEqual(["read"]);
  const allowed = allTools.filter((tool) => access.allows(tool)).map(({ name }) => name);
  expect(allowed).toHaveLength(7);
  expect(allowed).not.toContain("service_create_post");
});
