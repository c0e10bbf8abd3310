import { expect, test } from "vitest";
import type { ScopeAnswer } from "../faces/client.ts";
import type { Scope } from "../faces/core.ts";
import { ManualClock } from "../platform/support/clock.ts";
import { Access, allTools, TokenRefused } from "./face.ts";

const MINUTE_MS = 60_000;

type Answers = Readonly<Record<Scope, ScopeAnswer>>;

const all: Answers = { read: "yes", "posts:write": "yes", "comments:write": "yes", dm: "yes" };

function watched(answers: Answers) {
  const clock = new ManualClock();
  const access = new Access({ clock });
  const platform = { answers, asked: 0 };
  const probe = () => {
    platform.asked += 1;
    return Promise.resolve(platform.answers);
  };
  const tools = async () => (await access.usable(allTools, probe)).map(({ name }) => name);
  return { clock, access, platform, tools };
}

test("concurrent checks cause one request, and another after five minutes", async () => {
  const { clock, platform, tools } = watched(all);
  await Promise.all([tools(), tools(), tools()]);
  clock.advance(5 * MINUTE_MS - 1);
  await tools();
  expect(platform.asked).toBe(1);
  platform.answers = { ...all, dm: "no" };
  clock.advance(1);
  expect(await tools()).not.toContain("service_send_message");
  expect(platform.asked).toBe(2);
});

test("if the platform gives no answer, the scopes stay, and the next request follows after a minute", async () => {
  const { clock, platform, tools } = watched({ ...all, dm: "no" });
  const known = await tools();
  platform.answers = {
    read: "unknown",
    "posts:write": "unknown",
    "comments:write": "unknown",
    dm: "unknown",
  };
  clock.advance(5 * MINUTE_MS);
  expect(await tools()).toEqual(known);
  clock.advance(MINUTE_MS - 1);
  await tools();
  expect(platform.asked).toBe(2);
  clock.advance(1);
  await tools();
  expect(platform.asked).toBe(3);
});

test("a refused token is probed anew each time", async () => {
  const refused = {
    read: "refused",
    "posts:write": "refused",
    "comments:write": "refused",
    dm: "refused",
  } as const;
  const { platform, tools } = watched(refused);
  await expect(tools()).rejects.toThrow(TokenRefused);
  platform.answers = all;
  expect(await tools()).toHaveLength(13);
});

test("configured scopes are a limit: no requests, and no other scope is allowed", async () => {
  const access = new Access({ scopes: ["read"] });
  const probe = () => Promise.reject(new Error("nothing is probed"));
  const listed = (await access.usable(allTools, probe)).map(({ name }) => name);
  const allowed = allTools.filter((tool) => access.allows(tool)).map(({ name }) => name);
  expect(allowed).toEqual(listed);
  expect(allowed).toHaveLength(7);
  expect(allowed).not.toContain("service_create_post");
});
