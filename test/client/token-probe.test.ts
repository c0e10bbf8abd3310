import { describe, expect, test } from "vitest";
import { Client } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";
import { messagesOf, rejection } from "./api.ts";

type Respond = (path: string) => Response;

const PROBE = "/api/v1/dm/conversations";
const OWN = "/api/v1/posts/p_1";
const WAIT_MS = 5_000;

const well: Respond = () =>
  Response.json({ id: "p_1", username: "bot", items: [], nextCursor: null });
/** Rejects posts, either without a code or with a code newer than this version. */
const refusing =
  (body: unknown): Respond =>
  (path) =>
    path === OWN ? Response.json(body, { status: 403 }) : well(path);
const switchedOff =
  (body: unknown, status = 403): Respond =>
  () =>
    Response.json(body, { status });

/** `random` scales waits: 0 means half, and 1 means the full length. */
function makeClient(respond: Respond, random = 1) {
  const clock = new ManualClock(1_800_000_000_000);
  const calls: string[] = [];
  const platform = { respond };
  const client = new Client({
    ...{ retries: 0, baseUrl: "http://platform.test", apiKey: "key", clock, random: () => random },
    fetch: async (url) => {
      const { pathname } = new URL(url);
      calls.push(pathname);
      return platform.respond(pathname);
    },
  });
  const changes = messagesOf(client, "circuit");
  return { clock, calls, changes, platform, client };
}

describe("a trial that one event's own 403 ends", () => {
  test.each<[string, Respond, unknown]>([
    ["neither it nor the refusal has a code", switchedOff({}), {}],
    ["both have one code", switchedOff({ code: "FORBIDDEN" }), { code: "FORBIDDEN" }],
    ["the token was refused with 401", switchedOff({}, 401), {}],
  ])("leaves the trial to the probe, which closes the circuit: %s", async (_name, off, own) => {
    const { clock, calls, changes, platform, client } = makeClient(off);
    expect(await rejection(client.me())).toMatchObject({ refusesToken: true });
    platform.respond = refusing(own);
    await clock.advance(WAIT_MS);
    calls.length = 0;

    const refusal = await rejection(client.posts.get("p_1"));
    expect(refusal).toMatchObject({ status: 403, refusesToken: false, local: false });
    expect(calls).toEqual([OWN, PROBE]);
    expect(changes.map(({ of, open }) => [of, open])).toEqual([
      ["token", true],
      ["token", false],
    ]);
    await client.me();
  });

  test("leaves the circuit open for longer while the probe is refused as well", async () => {
    const { clock, calls, changes, client } = makeClient(switchedOff({}));
    await rejection(client.me());
    await clock.advance(WAIT_MS);
    calls.length = 0;

    expect(await rejection(client.posts.get("p_1"))).toMatchObject({ refusesToken: true });
    expect(calls).toEqual([OWN, PROBE]);
    expect(changes).toMatchObject([{ of: "token", open: true }]);
    const held = await rejection(client.me());
    expect(held).toMatchObject({ local: true, retryAfterMs: 2 * WAIT_MS });
  });
});

describe("a probe that went well", () => {
  test("serves a burst of refused requests", async () => {
    const { calls, client } = makeClient(refusing({}));
    for (let nth = 0; nth < 3; nth++) {
      expect(await rejection(client.posts.get("p_1"))).toMatchObject({ refusesToken: false });
    }
    expect(calls.filter((path) => path === PROBE)).toHaveLength(1);
  });

  test("hides an app that is switched off after it for 5 s at most", async () => {
    const { clock, platform, client } = makeClient(refusing({}));
    expect(await rejection(client.posts.get("p_1"))).toMatchObject({ refusesToken: false });
    platform.respond = switchedOff({});
    await clock.advance(5_000);
    expect(await rejection(client.posts.get("p_1"))).toMatchObject({ refusesToken: true });
  });

  test("counts for nothing once the token is refused", async () => {
    const { clock, platform, client } = makeClient(refusing({}), 0);
    await rejection(client.posts.get("p_1"));
    platform.respond = switchedOff({}, 401);
    expect(await rejection(client.me())).toMatchObject({ refusesToken: true });
    platform.respond = switchedOff({});
    await clock.advance(WAIT_MS / 2);
    expect(await rejection(client.posts.get("p_1"))).toMatchObject({ refusesToken: true });
  });
});
