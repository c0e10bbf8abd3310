import { describe, expect, test } from "vitest";
import { OwnAccount } from "../../src/router/own-account.ts";
import { ManualClock } from "../../src/testing/manual-clock.ts";
import { fakeClient, jobFor } from "./support.ts";

const { signal } = new AbortController();

function setUp() {
  const { client, platform } = fakeClient();
  const clock = new ManualClock(1_800_000_000_000);
  const account = new OwnAccount(client, clock);
  const commentBy = (username: string) =>
    jobFor("comment", { actor: { username, name: username } }).event;
  const messageBy = (username: string) =>
    jobFor("dm.message", { from: { userId: "u_1", username, name: username } }).event;
  const requests = () => platform.calls.map(({ method, path }) => `${method} ${path}`);
  return {
    ...{ client, platform, clock, account, requests },
    comment: (username: string) => account.hasCaused(commentBy(username), signal),
    message: (username: string) => account.hasCaused(messageBy(username), signal),
  };
}

describe("the bot's own account", () => {
  test("is asked for once, also by events at the same time", async () => {
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
    const { account, requests } = setUp();
    expect(await account.hasCaused(jobFor("poll.closed").event, signal)).toBe(false);
    expect(requests()).toEqual([]);
  });

  test("stays unknown when the request fails, and is asked for again after a minute", async () => {
    const { comment, clock, platform, requests } = setUp();
    platform.refuse({ code: "AWAY", status: 503, path: "/me" });
    expect(await comment("bot")).toBe(false);
    expect(await comment("bot")).toBe(false);
    expect(requests()).toEqual(["GET /me"]);
    await clock.advance(60_000);
    expect(await comment("bot")).toBe(true);
  });

  test("is asked for again when the run was aborted", async () => {
    const { account, comment } = setUp();
    const aborted = AbortSignal.abort();
    expect(await account.hasCaused(jobFor("comment").event, aborted)).toBe(false);
    expect(await comment("bot")).toBe(true);
  });

  test("is learnt from the author of a comment that the bot made", async () => {
    const { account, comment, requests } = setUp();
    account.noteWrite({ id: "cm_1", author: { username: "bot" } });
    expect(await comment("bot")).toBe(true);
    expect(requests()).toEqual([]);
  });

  test("is learnt from the bot's messages where the profile may not be read", async () => {
    const { account, client, message, platform, requests } = setUp();
    platform.refuse({ code: "AGENT_SCOPE_MISSING", path: "/me", times: 9 });
    expect(await message("ada")).toBe(false);
    // Nothing is asked twice: the bot has written nothing since.
    expect(await message("bot")).toBe(false);
    const messages = "GET /dm/conversations/c_1/messages";
    expect(requests()).toEqual(["GET /me", messages]);
    account.noteWrite(await client.dms.send("c_1", { text: "hi" }));
    expect(await message("bot")).toBe(true);
    expect(requests().slice(2)).toEqual(["POST /dm/conversations/c_1/messages", messages]);
  });
});
