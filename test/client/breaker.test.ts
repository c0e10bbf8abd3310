import { describe, expect, test } from "vitest";
import { Client, NetworkError, outageOf } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";
import { messagesOf, operations, rejection } from "./api.ts";

type Respond = (method: string, path: string) => Response | Promise<Response>;

const away: Respond = () => Response.json({}, { status: 503 });
const well: Respond = () => Response.json({ username: "bot", items: [], nextCursor: null });
const broken: Respond = () => {
  throw new TypeError("fetch failed", { cause: { code: "ECONNRESET" } });
};

/** `random` always returns 1, so that cooldowns have their full length. */
function platform() {
  const clock = new ManualClock(1_800_000_000_000);
  const calls: string[] = [];
  const state = { respond: away };
  const client = new Client({
    retries: 0,
    baseUrl: "http://platform.test",
    apiKey: "key",
    timeoutMs: 10_000,
    clock,
    random: () => 1,
    fetch: async (url, init) => {
      const { pathname } = new URL(url);
      calls.push(`${init.method} ${pathname}`);
      return await state.respond(String(init.method), pathname);
    },
  });
  const changes = messagesOf(client, "circuit");
  return { clock, calls, changes, state, client };
}

async function sent(calls: readonly string[], count: number): Promise<void> {
  while (calls.length < count) await Promise.resolve();
}

async function tries(client: Client, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await client.me().catch(() => undefined);
}

describe("a platform that is unavailable", () => {
  for (const [name, respond] of Object.entries({ "503": away, "a broken connection": broken })) {
    test(`is left alone after five failures in a row: ${name}`, async () => {
      const { client, calls, state, changes } = platform();
      state.respond = respond;
      await tries(client, 5);
      const error = await rejection(client.me());
      expect(error).toBeInstanceOf(NetworkError);
      expect(error).toMatchObject({ code: "API_CIRCUIT_OPEN", sent: false, retryAfterMs: 1_000 });
      expect(outageOf(error)).toBe(error);
      expect(calls).toHaveLength(5);
      expect(changes).toEqual([{ of: "platform", why: "outages", open: true, retryInMs: 1_000 }]);
    });
  }

  test("four failures are not enough, and an answer between them begins the count anew", async () => {
    const { client, calls, state } = platform();
    for (let round = 0; round < 3; round++) {
      state.respond = away;
      await tries(client, 4);
      state.respond = well;
      await tries(client, 1);
    }
    expect(calls).toHaveLength(15);
  });

  test("is tried by one request at a time, after waits that double up to 30 s", async () => {
    const { client, clock, calls } = platform();
    await tries(client, 5);
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const before = calls.length;
      await clock.advance(wait - 1);
      await tries(client, 1);
      expect(calls).toHaveLength(before);
      await clock.advance(1);
      await Promise.all([tries(client, 1), tries(client, 1), tries(client, 1)]);
      expect(calls).toHaveLength(before + 1);
    }
  });

  test("is used by all requests again once one request has succeeded", async () => {
    const { client, clock, calls, state, changes } = platform();
    await tries(client, 5);
    await clock.advance(1_000);
    state.respond = well;
    await client.me();
    await Promise.all([client.me(), client.me()]);
    expect(calls).toHaveLength(8);
    expect(changes.at(-1)).toEqual({ of: "platform", why: "outages", open: false, retryInMs: 0 });
    state.respond = away;
    await tries(client, 4);
    expect(await rejection(client.me())).toMatchObject({ code: "API_ERROR" });
  });

  test("counts as available when it responds, even with an error", async () => {
    const { client, clock, calls, state } = platform();
    await tries(client, 5);
    await clock.advance(1_000);
    state.respond = () => Response.json({}, { status: 404 });
    await tries(client, 2);
    expect(calls).toHaveLength(7);
  });

  test("a trial that its caller gives up lets the next request try", async () => {
    const { client, clock, calls, state } = platform();
    await tries(client, 5);
    await clock.advance(1_000);
    const gone = new AbortController();
    state.respond = () => {
      gone.abort(new Error("the caller is gone"));
      throw new DOMException("aborted", "AbortError");
    };
    await expect(client.me({ signal: gone.signal })).rejects.toThrow("the caller is gone");
    state.respond = well;
    await client.me();
    expect(calls).toHaveLength(7);
  });

  test("failures of requests from before it was left alone do not make the wait longer", async () => {
    const { client, clock, calls, state } = platform();
    const held = Promise.withResolvers<Response>();
    state.respond = () => held.promise;
    const under = tries(client, 1);
    await sent(calls, 1);
    state.respond = away;
    await tries(client, 5);
    held.resolve(Response.json({}, { status: 503 }));
    await under;
    await clock.advance(1_000);
    state.respond = well;
    await tries(client, 1);
    expect(calls).toHaveLength(7);
  });
});

describe("an operation that is away while others are answered", () => {
  const onlyReads: Respond = (method, path) =>
    method === "POST" ? away(method, path) : well(method, path);
  const read = (client: Client) => client.dms.messages("c_1");
  const write = (client: Client) => client.dms.send("c_1", { text: "a" });

  async function pairs(client: Client, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      await read(client).catch(() => undefined);
      await write(client).catch(() => undefined);
    }
  }

  test("is skipped after five consecutive failures, even if other requests succeed in between", async () => {
    const { client, calls, state, changes } = platform();
    state.respond = onlyReads;
    await pairs(client, 5);
    const error = await rejection(write(client));
    expect(error).toMatchObject({ code: "API_CIRCUIT_OPEN", sent: false, retryAfterMs: 1_000 });
    expect(error).toHaveProperty(
      "message",
      expect.stringContaining('"POST /dm/conversations/{id}/messages"'),
    );
    expect(changes).toEqual([
      { of: "POST /dm/conversations/{id}/messages", why: "outages", open: true, retryInMs: 1_000 },
    ]);
    await read(client);
    expect(calls).toHaveLength(11);
  });

  test("is tried by one request at a time, after waits that double up to 30 s", async () => {
    const { client, clock, calls, state } = platform();
    state.respond = onlyReads;
    await pairs(client, 5);
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      await clock.advance(wait - 1);
      const before = calls.length;
      await pairs(client, 1);
      expect(calls).toHaveLength(before + 1);
      await clock.advance(1);
      await Promise.all([pairs(client, 1), pairs(client, 1), pairs(client, 1)]);
      expect(calls).toHaveLength(before + 5);
    }
  });

  test("is used again once one of its own requests gets a response", async () => {
    const { client, clock, calls, state, changes } = platform();
    state.respond = onlyReads;
    await pairs(client, 5);
    await clock.advance(1_000);
    state.respond = () => Response.json({}, { status: 404 });
    await Promise.all([rejection(write(client)), rejection(read(client))]);
    await rejection(write(client));
    expect(calls).toHaveLength(13);
    expect(changes.at(-1)).toEqual({
      of: "POST /dm/conversations/{id}/messages",
      why: "outages",
      open: false,
      retryInMs: 0,
    });
  });

  test("failures while the whole platform is left alone do not keep it back afterwards", async () => {
    const { client, clock, calls, state, changes } = platform();
    for (let i = 0; i < 5; i++) await rejection(write(client));
    await clock.advance(1_000);
    await rejection(write(client));
    await clock.advance(2_000);
    state.respond = well;
    await read(client);
    state.respond = () => Response.json({ id: "1", conversationId: "c_1", createdAt: "x" });
    await write(client);
    expect(calls).toHaveLength(8);
    expect(changes.map(({ of }) => of)).toEqual(["platform", "platform"]);
  });
});

describe("each of the 13 operations has its own circuits", () => {
  test.each(Object.keys(operations))(
    "a quota of %s that is used up holds back nothing else",
    async (exhausted) => {
      const { client, calls, state } = platform();
      state.respond = () => Response.json({ code: "QUOTA_EXCEEDED" }, { status: 429 });
      await rejection(Promise.resolve(operations[exhausted]?.(client)));
      state.respond = () => Response.json({ error: "NOT_FOUND" }, { status: 404 });
      for (const [name, call] of Object.entries(operations)) {
        const error = await rejection(Promise.resolve(call(client)));
        const code = name === exhausted ? "API_CIRCUIT_OPEN" : "NOT_FOUND";
        expect(error, name).toMatchObject({ code });
      }
      expect(calls).toHaveLength(Object.keys(operations).length);
    },
  );
});

describe("a clock that is set back", () => {
  test("makes no wait longer than it was", async () => {
    const { client, clock, calls } = platform();
    let setBackMs = 0;
    const now = clock.now.bind(clock);
    clock.now = () => now() - setBackMs;
    await tries(client, 5);
    setBackMs = 3_600_000;
    expect(await rejection(client.me())).toMatchObject({ retryAfterMs: 1_000 });
    await clock.advance(1_000);
    await tries(client, 1);
    expect(calls).toHaveLength(6);
  });
});

describe("a platform that asks to wait", () => {
  const asks =
    (seconds: number): Respond =>
    () =>
      Response.json({}, { status: 429, headers: { "retry-after": String(seconds) } });

  async function underWay({ client, calls, state }: ReturnType<typeof platform>) {
    const held = Promise.withResolvers<Response>();
    state.respond = () => held.promise;
    const before = calls.length;
    const ended = tries(client, 1);
    await sent(calls, before + 1);
    return async (respond: Respond) => {
      held.resolve(await respond("GET", "/api/v1/me"));
      await ended;
    };
  }

  test("is not asked earlier because a request from before is answered", async () => {
    const at = platform();
    const answer = await underWay(at);
    at.state.respond = asks(20);
    await tries(at.client, 1);
    await answer(well);
    at.state.respond = well;
    expect(await rejection(at.client.me())).toMatchObject({ retryAfterMs: 20_000 });
    await at.clock.advance(20_000);
    await tries(at.client, 2);
    expect(at.calls).toHaveLength(4);
    expect(at.changes.map(({ open }) => open)).toEqual([true, false]);
  });

  test("is used again at once when it did not ask, and a request from before is answered", async () => {
    const at = platform();
    const answer = await underWay(at);
    at.state.respond = away;
    await tries(at.client, 5);
    await answer(well);
    at.state.respond = well;
    await tries(at.client, 1);
    expect(at.calls).toHaveLength(7);
  });

  test("of two waits it asks for the longer one holds", async () => {
    for (const [first, second] of [
      [20, 50],
      [50, 20],
    ] as const) {
      const at = platform();
      const answer = await underWay(at);
      at.state.respond = asks(first);
      await tries(at.client, 1);
      await answer(asks(second));
      expect(await rejection(at.client.me())).toMatchObject({ retryAfterMs: 50_000 });
    }
  });

  test("a trial that began before it asked does not end the wait", async () => {
    const at = platform();
    at.state.respond = away;
    const old = await underWay(at);
    at.state.respond = away;
    await tries(at.client, 5);
    await at.clock.advance(1_000);
    const trial = await underWay(at);
    await old(asks(20));
    await trial(well);
    expect(await rejection(at.client.me())).toMatchObject({ retryAfterMs: 20_000 });
  });

  test("429 with Retry-After immediately holds back all requests for that long", async () => {
    const { client, clock, calls, state } = platform();
    state.respond = () => Response.json({}, { status: 429, headers: { "retry-after": "20" } });
    await tries(client, 1);
    expect(await rejection(client.me())).toMatchObject({ retryAfterMs: 20_000 });
    await clock.advance(19_999);
    await tries(client, 1);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    await tries(client, 1);
    expect(calls).toHaveLength(2);
  });

  test("a quota that is used up holds back that operation alone", async () => {
    const { client, clock, calls, changes, state } = platform();
    state.respond = (method) =>
      method === "POST" ? Response.json({ code: "QUOTA_EXCEEDED" }, { status: 429 }) : well("", "");
    await client.dms.send("c_1", { text: "a" }).catch(() => undefined);
    const error = await rejection(client.dms.send("c_1", { text: "b" }));
    expect(error).toMatchObject({ code: "API_CIRCUIT_OPEN", retryAfterMs: 60_000 });
    expect(changes).toEqual([
      { of: "POST /dm/conversations/{id}/messages", why: "quota", open: true, retryInMs: 60_000 },
    ]);
    await client.dms.messages("c_1");
    await client.me();
    expect(calls).toHaveLength(3);
    await clock.advance(60_000);
    state.respond = () => Response.json({ id: "1", conversationId: "c_1", createdAt: "x" });
    await client.dms.send("c_1", { text: "b" });
    await client.dms.send("c_1", { text: "c" });
    expect(calls).toHaveLength(5);
  });
});
