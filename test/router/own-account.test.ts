import { describe, expect, test, vi } from "vitest";
import type { AnyEvent } from "../faces/events.ts";
import { Handlers, OwnAccount, Router, routesOf } from "../faces/router.ts";
import { ManualClock } from "../faces/testing.ts";
import { fakeClient, jobFor } from "./support.ts";

const { signal } = new AbortController();

function setUp() {
  const clock = new ManualClock(1_800_000_000_000);
  const { client, platform } = fakeClient({ clock });
  const account = new OwnAccount(client, clock);
  const commentBy = (username: string) =>
    jobFor("comment", { actor: { username, name: username } }).event;
  const messageBy = (username: string) =>
    jobFor("dm.message", { from: { userId: "u_1", username, name: username } }).event;
  const requests = () => platform.calls.map(({ method, path }) => `${method} ${path}`);
  const hasCaused = async (event: AnyEvent, until = signal) => {
    await account.learn({ event, signal: until });
    return account.hasCaused(event);
  };
  return {
    client,
    platform,
    clock,
    account,
    requests,
    hasCaused,
    comment: (username: string) => hasCaused(commentBy(username)),
    message: (username: string) => hasCaused(messageBy(username)),
  };
}

describe("the bot's own account", () => {
  test("is requested once, even by concurrent events", async () => {
    const { comment, message, requests } = setUp();
    const answers = await Promise.all([
      comment("ada"),
      comment("bot"),
      message("bot"),
      message("ada"),
    ]);
    expect(answers).toEqual([false, true, true, false]);
    expect(await comment("bot")).toBe(true);
    expect(requests()).toEqual(["GET /me"]);
  });

  test("is recognized in any case", async () => {
    const { comment } = setUp();
    expect([await comment("Bot"), await comment("bot2")]).toEqual([true, false]);
  });

  test("is not asked for because of an event without an account", async () => {
    const { hasCaused, requests } = setUp();
    expect(await hasCaused(jobFor("poll.closed").event)).toBe(false);
    expect(requests()).toEqual([]);
  });

  test("stays unknown when the request fails, and is requested again after a minute", async () => {
    const { comment, clock, platform, requests } = setUp();
    platform.refuse({ code: "AWAY", status: 503, path: "/me" });
    expect(await comment("bot")).toBe(false);
    expect(await comment("bot")).toBe(false);
    expect(requests()).toEqual(["GET /me"]);
    await clock.advance(60_000);
    expect(await comment("bot")).toBe(true);
  });

  test("is waited for no longer once the run is aborted", async () => {
    const { hasCaused, comment, requests } = setUp();
    await hasCaused(jobFor("comment").event, AbortSignal.abort());
    expect(await comment("bot")).toBe(true);
    expect(requests()).toEqual(["GET /me"]);
  });

  test("delays events by at most 2 s in all, and is recognized as soon as the answer is there", async () => {
    const answer = Promise.withResolvers<void>();
    const { platform } = fakeClient();
    const { client } = fakeClient({
      fetch: (url, init) => answer.promise.then(() => platform.fetch(url, init)),
    });
    const clock = new ManualClock(1_800_000_000_000);
    const account = new OwnAccount(client, clock);
    const { event } = jobFor("comment", { actor: { username: "bot", name: "bot" } });
    const learning = account.learn({ event, signal });
    await clock.advance(2_000);
    await learning;
    expect(account.hasCaused(event)).toBe(false);
    expect(account.learn({ event, signal })).toBeUndefined();
    answer.resolve();
    await vi.waitFor(() => expect(account.hasCaused(event)).toBe(true));
  });

  test("is learned from the author of the bot's comment, until the profile differs", async () => {
    const { account, comment, clock, platform } = setUp();
    platform.refuse({ code: "AWAY", status: 503, path: "/me" });
    expect(await comment("bot")).toBe(false);
    account.noteWrite({ id: "cm_1", author: { username: "ada" } });
    expect([await comment("ada"), await comment("bot")]).toEqual([true, false]);
    await clock.advance(60_000);
    await comment("ada");
    await vi.waitFor(async () => expect(await comment("bot")).toBe(true));
    expect(await comment("ada")).toBe(false);
    account.noteWrite({ id: "cm_1", author: { username: "ada" } });
    expect(await comment("ada")).toBe(false);
  });

  test("is requested again after ten minutes when it was refused", async () => {
    const { comment, clock, platform, requests } = setUp();
    platform.refuse({ code: "AGENT_SCOPE_MISSING", status: 403, path: "/me" });
    expect(await comment("bot")).toBe(false);
    await clock.advance(599_999);
    expect(await comment("bot")).toBe(false);
    expect(requests()).toEqual(["GET /me"]);
    await clock.advance(1);
    expect(await comment("bot")).toBe(true);
  });

  test("is requested again after ten minutes when the response had no username", async () => {
    let requests = 0;
    const clock = new ManualClock(1_800_000_000_000);
    const { client } = fakeClient({
      clock,
      fetch: async () => Response.json(++requests === 1 ? {} : { username: "bot" }),
    });
    const account = new OwnAccount(client, clock);
    const { event } = jobFor("comment", { actor: { username: "bot", name: "bot" } });
    await account.learn({ event, signal });
    await clock.advance(599_999);
    await account.learn({ event, signal });
    expect([requests, account.hasCaused(event)]).toEqual([1, false]);
    await clock.advance(1);
    await account.learn({ event, signal });
    expect([requests, account.hasCaused(event)]).toEqual([2, true]);
  });

  test("is requested again once the app is no longer disabled", async () => {
    const { comment, clock, platform } = setUp();
    platform.refuse({ code: "APP_DISABLED", status: 403, path: "/me" });
    platform.refuse({ code: "APP_DISABLED", status: 403, path: "/dm/conversations" });
    expect(await comment("bot")).toBe(false);
    await clock.advance(60_000);
    expect(await comment("bot")).toBe(true);
  });

  test("is learnt from the bot's messages where the profile may not be read", async () => {
    const { account, client, message, platform, requests } = setUp();
    platform.refuse({ code: "AGENT_SCOPE_MISSING", path: "/me", times: 9 });
    expect(await message("ada")).toBe(false);
    // The bot has not written anything since, so it does not send the request again.
    expect(await message("bot")).toBe(false);
    const messages = "GET /dm/conversations/c_1/messages";
    expect(requests()).toEqual(["GET /me", messages]);
    account.noteWrite(await client.dms.send("c_1", { text: "hi" }));
    expect(await message("bot")).toBe(true);
    expect(requests().slice(2)).toEqual(["POST /dm/conversations/c_1/messages", messages]);
  });
});

test("an event that the bot itself caused has no boundary, which would reply to the bot", async () => {
  const { client, clock } = setUp();
  const router = new Router();
  router.on("comment", () => undefined);
  router.catch(() => undefined);
  const handlers = new Handlers({ routes: routesOf(router), client, clock });
  const boundaryOf = async (username: string) => {
    const handling = handlers.begin(jobFor("comment", { actor: { username, name: username } }));
    await handling.prepare();
    return handling.boundary(new Error("crashed"));
  };
  expect([await boundaryOf("ada"), await boundaryOf("bot")]).toEqual([
    { begin: expect.any(Function) },
    undefined,
  ]);
});
