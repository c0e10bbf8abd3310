import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { ManualClock } from "../support/clock.ts";
import { act, request, runPlatform } from "../support/platform.ts";

type Refused = readonly [body: unknown, message: string, code?: "NOT_FOUND"];

/** Bodies that the control API refuses, by request, with a part of the reason. */
const bodies: Readonly<Record<string, readonly Refused[]>> = {
  "POST /act": [
    [undefined, "A JSON body is required."],
    [
      { type: "Poke!", from: "ada" },
      "type must be one of post, dm.message, mention, comment, reply, follow, like, repost, quote, " +
        "or a custom name of a-z, 0-9, dots, dashes and underscores",
    ],
    [{ type: "follow" }, "from: "],
    [{ type: "follow", from: "ada", conversation: "c_2" }, "conversation"],
    [{ type: "post", from: "ada", imageKeys: ["a", "b", "c"], images: 2 }, "add up to at most 4"],
    [{ type: "post", from: "ada", imageKeys: ["a", "b", "c", "d", "e"] }, "add up to at most 4"],
    [{ type: "post", from: "ada", imageKeys: ["a"], count: 2 }, "only once"],
    [{ type: "like", from: "ada", imageKeys: ["a"] }, "imageKeys does not apply to like"],
  ],
  "POST /people": [
    [{ username: "ada" }, "a user named"],
    [{ username: "bot" }, "a bot named"],
  ],
  "POST /apps": [
    [{ username: "ada" }, "username: a user named ada already exists"],
    [{ username: "bot" }, "username: a bot named bot already exists"],
    [{ username: "a b" }, "username must be a username"],
    [{ username: "bot." }, "without a dot or dash at either end"],
    [{ username: "x", name: " " }, "name must have 1 to 100"],
    [{ username: "x", name: "n".repeat(101) }, "name must have 1 to 100"],
    [{}, "username: "],
    [{ username: "x", scopes: [] }, "scopes"],
  ],
  "PUT /apps/bot": [[{}, "disabled"]],
  "PUT /apps/ada": [[{ disabled: true }, "ada is a user, not a bot"]],
  "PUT /apps/nobody": [[{ disabled: true }, "nobody", "NOT_FOUND"]],
  "POST /tokens": [[{ scopes: ["write"] }, "scopes"]],
  "POST /groups": [
    [{ members: ["ada"] }, "members must contain 2 to 50"],
    [{ members: ["ada", "ADA"] }, "members must contain 2 to 50"],
    [{ members: Array.from({ length: 51 }, (_, n) => `p${n}`) }, "members must contain 2 to 50"],
    [{ members: ["ada", "b n"] }, "members must be a username"],
    [{ members: ["ada", "bot"], title: "x" }, "title"],
    [{}, "members"],
  ],
  "PUT /blocks": [
    [{ by: "bot" }, "cannot block itself"],
    [{ by: "ada", whom: "ada" }, "cannot block itself"],
    [{ by: "ada", whom: "nobody" }, "nobody", "NOT_FOUND"],
    [{ by: "a b" }, "by must be a username"],
    [{}, "by: "],
  ],
  "PUT /limits": [
    [{ postsPerDay: -1 }, "postsPerDay"],
    [{ postsPerDay: 1.5 }, "postsPerDay"],
    [{ posts: 1 }, "posts"],
  ],
  "PUT /storage": [[{}, "configured"]],
  "PUT /clock": [
    [{ now: "tomorrow" }, "now must be an ISO 8601 time"],
    [{ now: "2030-01-01T00:00:00" }, "now must be an ISO 8601 time with a time zone"],
    [{ now: "2030-02-31T00:00:00Z" }, "now must be an ISO 8601 time"],
    [{ now: "1969-12-31T23:59:59Z" }, "between 1970 and 9999"],
    [{ now: "2030-01-01T00:00:00Z", advanceMs: 1 }, "not both"],
    [{ advanceMs: -1 }, "use now to set the clock back"],
    [{ advanceMs: 1.5 }, "whole number"],
    [{ advanceMs: 1e15 }, "between 1970 and 9999"],
    [{ offsetMs: 1 }, "offsetMs"],
  ],
  "PUT /webhook": [
    [{ enabled: true }, "url"],
    [{ types: ["dm.message", "A type"] }, "types"],
    [{ secret: "sec_1" }, "secret"],
    [{ secret: "whsec_a,whsec_b" }, "secret"],
    [{ adress: "https://example.org/" }, "adress"],
  ],
  "PUT /faults": [
    [{ webhook: { times: 1 } }, "webhook"],
    [{ webhook: { mode: "status", status: 200 } }, "webhook.status"],
    [{ webhook: { mode: "slow" } }, "webhook.mode"],
    [{ webhook: { mode: "drop", times: 0 } }, "webhook.times"],
    [{ webhook: { mode: "drop", rate: 0 } }, "webhook.rate"],
    [{ webhook: { mode: "delay", delayMs: 0 } }, "webhook.delayMs"],
    [{ webhook: { mode: "delay", delayMs: 86_400_001 } }, "webhook.delayMs"],
    [{ webhook: { mode: "drop" }, events: { mode: "late" } }, "events.lateMs"],
    [{ events: { mode: "late", lateMs: 0 } }, "events.lateMs"],
    [{ events: { mode: "early", lateMs: 1 } }, "events.mode"],
    [{ api: { mode: "off" } }, "api.mode"],
    [{ api: { mode: "hold", match: "read" } }, "api.match"],
    [{ api: { mode: "status", status: 204 } }, "api.status"],
    [{ api: { mode: "hold", times: 0 } }, "api.times"],
    [{ api: { mode: "slow", delayMs: 0 } }, "api.delayMs"],
    [{ api: { mode: "mix", rate: 0 } }, "api.rate"],
    [{ api: { mode: "mix", rate: 1.5 } }, "api.rate"],
    [{ disk: {} }, "disk"],
  ],
  "POST /snapshots": ["", "  ", "x".repeat(101), 7].map((name) => [{ name }, "name"] as const),
};

/** Everything that a change through the control API could alter. */
function stateOf({ control }: Platform): string {
  return JSON.stringify([
    [control.state(), control.apps.list(), control.apps.tokens(), control.conversations()],
    [control.faults, control.limits, control.clock.view, control.blocks, control.storage],
    control.snapshots.list(),
  ]);
}

const changes = Object.entries(bodies).flatMap(([line, all]) =>
  all.map(([body, message, code = "VALIDATION"]) => ({ line, body, message, code })),
);

test.each(changes)(
  "$line refuses $body, and changes nothing",
  async ({ line, body, message, code }) => {
    const platform = await runPlatform({ clock: new ManualClock() });
    const before = stateOf(platform);
    const [method = "", path] = line.split(" ");
    const answer = await request(platform, method, `/control/v1${path}`, { body });
    expect(answer).toMatchObject({
      status: code === "NOT_FOUND" ? 404 : 400,
      body: { error: { code, message: expect.stringContaining(message) } },
    });
    expect(stateOf(platform)).toBe(before);
  },
);

test.each([
  ...["/conversations/c_9/messages", "/conversations/c_9/messages?limit=2"],
  ...["/conversations/x/messages?limit=2", "/posts/p_9", "/posts/x", "/posts/p_9/comments"],
  ...["/events/evt_000000000009", "/events/x", "/calls/call_999", "/calls/dlv_1", "/calls/x"],
  ...["/deliveries/dlv_9", "/deliveries/dlv_0", "/deliveries/evt_000000000001"],
])("GET %s finds nothing", async (path) => {
  const answer = await request(await runPlatform(), "GET", `/control/v1${path}`);
  expect(answer).toMatchObject({ status: 404, body: { error: { code: "NOT_FOUND" } } });
});

test.each([
  ...["/conversations/c_2/messages?limit=0", "/conversations/c_2/messages?limit=51"],
  ...["/conversations/c_2/messages?before=x", "/conversations?cursor=p_1", "/posts?cursor=x"],
  ...["/timeline?after=-1", "/timeline?after=x", "/timeline?after=1&after=2"],
  ...["/timeline?waitMs=30001", "/timeline?waitMs=", "/stream?after=-1", "/stream?after=x"],
  "/events?since=1",
])("GET %s is refused for its query", async (path) => {
  const platform = await runPlatform();
  act(platform, "dm.message");
  const answer = await request(platform, "GET", `/control/v1${path}`);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "VALIDATION" } } });
});
