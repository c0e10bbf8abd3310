import { describe, expect, test } from "vitest";
import { Client } from "../faces/client.ts";
import { RetryLater } from "../faces/errors.ts";
import {
  commentStep,
  type Effect,
  type Intent,
  messageStep,
  postStep,
  reconcile,
  refOf,
  type Step,
} from "../faces/steps.ts";
import { ManualClock } from "../faces/testing.ts";
import { claimOf } from "../support/inbox-events.ts";

const startedAt = Date.parse("2026-01-01T12:00:00Z");
const { signal } = new AbortController();

interface Scope {
  readonly client: Client;
  readonly signal: AbortSignal;
}

interface Said {
  readonly id: string;
  readonly text?: string;
  /** Time in ms, relative to the intent. */
  readonly after?: number;
  readonly fromBot?: boolean;
  readonly author?: string | null;
  readonly images?: number;
  readonly createdAt?: string | null;
}

/**
 * Creates a client for a platform that lists these items in pages. The platform's clock is `ahead` by this many ms. If
 * `cursor` is set, every page has this cursor.
 */
function clientFor(
  pages: readonly (readonly Said[])[],
  options: { ahead?: number; me?: unknown; cursor?: string } = {},
) {
  const { ahead = 0, me = { username: "bot" }, cursor } = options;
  const asked: string[] = [];
  const clock = new ManualClock(startedAt);
  const date = new Date(startedAt + ahead).toUTCString();
  const client = new Client({
    retries: 0,
    baseUrl: "http://platform.test",
    apiKey: "key",
    clock,
    fetch: async (address) => {
      const { pathname, searchParams } = new URL(address);
      asked.push(pathname);
      if (pathname.endsWith("/me")) return Response.json(me, { headers: { date } });
      const index = Number(searchParams.get("cursor") ?? 0);
      const nextCursor = index + 1 < pages.length ? String(index + 1) : null;
      const items = (pages[index] ?? []).map((said) => wire(said, ahead));
      return Response.json({ items, nextCursor: cursor ?? nextCursor }, { headers: { date } });
    },
  });
  return { client, asked };
}

function wire({ id, text = "hello", after = 1_000, ...rest }: Said, ahead: number) {
  const { fromBot = true, author = "bot", createdAt, images = 0 } = rest;
  return {
    id,
    conversationId: "c_1",
    fromBot,
    authorUsername: author,
    author: author === null ? undefined : { username: author },
    text,
    images: Array.from({ length: images }, () => ({ url: "u", width: 1, height: 1 })),
    createdAt:
      createdAt === undefined ? new Date(startedAt + ahead + after).toISOString() : createdAt,
  };
}

interface IntentOptions {
  readonly text?: string;
  readonly claimed?: readonly string[];
  /** Requests that other processes have in flight. */
  readonly underWay?: readonly string[];
  /** Platform time when the intent was recorded. null if unknown. */
  readonly at?: number | null;
  readonly where?: object;
  /** Age of an intent found after a restore, in ms. Absent if this inbox recorded the intent. */
  readonly lookedForMs?: number;
}

/** An open intent, and what the inbox knows about other steps. */
interface Open extends Intent {
  readonly claimed: readonly string[];
  readonly underWay: readonly string[];
  readonly searchAgain?: RetryLater | undefined;
}

function intent({
  text = "hello",
  claimed = [],
  underWay = [],
  at = startedAt,
  where = {},
  lookedForMs,
}: IntentOptions = {}): Open {
  const lostRun = { eventAt: startedAt, endedMsAgo: 60_000 };
  return {
    lostRun: lookedForMs === undefined ? undefined : lostRun,
    request: JSON.stringify({ text, imageCount: 0, at: at ?? undefined, ...where }),
    startedAt,
    ageMs: lookedForMs ?? 0,
    claimed,
    underWay,
  };
}

const claim = claimOf();

/** Reconciles the step with the platform, as the first run after a crash does. */
async function look<T>(
  { search }: Step<T>,
  { claimed, underWay, searchAgain, ...open }: Open,
): Promise<Effect<T> | undefined> {
  if (search === undefined) throw new Error("the step cannot be looked for");
  const inbox = {
    claimedRefs: async (refs: readonly string[]) =>
      new Set(refs.filter((ref) => claimed.includes(ref))),
    provisionalAdoptions: async () => [],
    requestsUnderWay: async () => underWay,
  };
  const clock = { now: () => startedAt };
  return await reconcile(search, open, {
    inbox,
    claim,
    clock,
    searchAgain,
    inFlightMs: search.inFlightMs,
  });
}

const hello = { text: "hello" };
const findMessage = (client: Client, open: Open) =>
  look(messageStep("reply/1", "c_1", hello, { client, signal }), open);
const findComment = (client: Client, open: Open) =>
  look(commentStep("reply/1", "p_1", hello, { client, signal }), open);
const findPost = (client: Client, open: Open) =>
  look(postStep("post/1", hello, { client, signal }), open);

const ways = [
  {
    kind: "dm",
    where: { conversationId: "c_1" },
    find: findMessage,
  },
  {
    kind: "comment",
    where: { postId: "p_1" },
    find: findComment,
  },
] as const;

describe.each(ways)("what an earlier run may have said, as $kind", ({ kind, where, find }) => {
  const ref = (id: string) => refOf(kind, id);
  const [three, two] = [{ id: "x_3", after: 3_000 }, { id: "x_2" }];

  test.each<[string, readonly (readonly Said[])[], IntentOptions, string | undefined]>([
    ["the bot's own, with the same text, newer than the intent", [[{ id: "x_1" }]], {}, "x_1"],
    ["no other text", [[{ id: "x_1", text: "hello there" }]], {}, undefined],
    ["nobody else's", [[{ id: "x_1", fromBot: false, author: "ada" }]], {}, undefined],
    ["no older one", [[{ id: "x_1", after: -3_001 }]], {}, undefined],
    ["nothing if nothing is there", [[]], {}, undefined],
    [
      "up to 3 s older, because the platform's clock has a resolution of a second",
      [[{ id: "x_1", after: -2_900 }]],
      {},
      "x_1",
    ],
    ["one with an unreadable date", [[{ id: "x_1", createdAt: "yesterday" }]], {}, "x_1"],
    ["not what another step has", [[two, { id: "x_1" }]], { claimed: [ref("x_1")] }, "x_2"],
    ["nothing if other steps have all", [[{ id: "x_1" }]], { claimed: [ref("x_1")] }, undefined],
    ["the oldest, for sends go out in order", [[three, { id: "x_1", after: 500 }, two]], {}, "x_1"],
    ["compared without the blanks around it", [[{ id: "x_1" }]], { text: " hello\n" }, "x_1"],
    ["on a later page", [[{ id: "a", text: "x" }], [{ id: "b", text: "y" }], [two]], {}, "x_2"],
  ])("is %s", async (_name, pages, options, id) => {
    const found = await find(clientFor(pages).client, intent(options));
    expect(found).toEqual(
      id === undefined
        ? undefined
        : expect.objectContaining({ result: expect.objectContaining({ id }), ref: ref(id) }),
    );
  });

  test.each([3_600_000, -3_600_000])(
    "is dated by the platform's clock, %i ms ahead of ours",
    async (ahead) => {
      const open = intent({ at: startedAt + ahead });
      const { client } = clientFor([[{ id: "x_1" }]], { ahead });
      expect(await find(client, open)).toMatchObject({ result: { id: "x_1" } });
      const old = clientFor([[{ id: "x_1", after: -10_000 }]], { ahead });
      expect(await find(old.client, open)).toBeUndefined();
    },
  );

  test.each([-60_000, 60_000])(
    "is found when our clock was set by %i ms since the intent",
    async (ms) => {
      const open = { ...intent(), startedAt: startedAt - ms };
      const { client } = clientFor([[{ id: "x_1" }]]);
      await client.me();
      expect(await find(client, open)).toMatchObject({ result: { id: "x_1" } });
    },
  );

  test("may be 5 minutes older where the platform's time of the intent was not known", async () => {
    const open = intent({ at: null });
    const { client } = clientFor([[{ id: "x_1", after: -299_000 }]], { ahead: 3_600_000 });
    await client.me();
    expect(await find(client, open)).toMatchObject({ result: { id: "x_1" } });
    const old = clientFor([[{ id: "x_1", after: -301_000 }]], { ahead: 3_600_000 });
    await old.client.me();
    expect(await find(old.client, open)).toBeUndefined();
  });

  test("is not taken while another process is in the middle of saying the same there", async () => {
    const { client } = clientFor([[{ id: "x_1" }]]);
    const same = [intent({ at: startedAt + 5_000, where }).request];
    await expect(find(client, intent({ underWay: same, where }))).rejects.toMatchObject({
      code: "RETRY_LATER",
      counts: false,
      delayMs: 1_000,
    });
    const elsewhere = JSON.stringify({ text: "hello", imageCount: 0, postId: "p_2" });
    const withImage = JSON.stringify({ text: "hello", imageCount: 1, ...where });
    const underWay = ["", elsewhere, withImage, intent({ text: "other words" }).request];
    expect(await find(client, intent({ underWay, where }))).toMatchObject({
      result: { id: "x_1" },
    });
    const { client: empty } = clientFor([[]]);
    expect(await find(empty, intent({ underWay: same, where }))).toBeUndefined();
  });

  test("is looked for again only at the next search if another process is saying the same meanwhile", async () => {
    const { client } = clientFor([[{ id: "x_1" }]]);
    const searchAgain = new RetryLater(3_000, "later", { counts: false });
    const underWay = [intent({ where }).request];
    const open = { ...intent({ underWay, where }), searchAgain };
    await expect(find(client, open)).rejects.toBe(searchAgain);
    expect(await find(client, { ...open, underWay: [] })).toMatchObject({ result: { id: "x_1" } });
  });

  test("is not taken while another version says the same, at a place in words of its own", async () => {
    const { client } = clientFor([[{ id: "x_1" }]]);
    const words = { text: "hello", imageCount: 0 };
    for (const other of [words, { ...words, roomId: "r_1", later: true }]) {
      const underWay = [JSON.stringify(other)];
      const open = intent({ underWay, where });
      await expect(find(client, open)).rejects.toMatchObject({ code: "RETRY_LATER" });
    }
    const named = intent({ underWay: [intent({ where }).request] });
    await expect(find(client, named)).rejects.toMatchObject({ code: "RETRY_LATER" });
    const underWay = [JSON.stringify({ ...words, text: "other words" })];
    expect(await find(client, intent({ underWay, where }))).toMatchObject({
      result: { id: "x_1" },
    });
  });

  test("of images alone has no text and as many images: a deleted one has neither", async () => {
    const { client } = clientFor([
      [
        { id: "words" },
        { id: "deleted", text: "", after: 500 },
        { id: "two", text: "", images: 2, after: 600 },
        { id: "picture", text: "", images: 1 },
      ],
    ]);
    const open: Open = { ...intent(), request: JSON.stringify({ imageCount: 1 }) };
    expect(await find(client, open)).toMatchObject({ result: { id: "picture" } });
  });

  test.each([
    ["there is too much to read", Array.from({ length: 30 }, () => [{ id: "1", text: "x" }]), {}],
    ["every page has the same cursor", [[{ id: "x_1" }]], { cursor: "0" }],
  ])("stays unknown when %s, so an operator must decide", async (_name, pages, options) => {
    const { client, asked } = clientFor(pages, options);
    await expect(find(client, intent())).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
      message: expect.stringContaining("service-bot inbox retry ID --assume done"),
    });
    expect(asked).toHaveLength(20);
  });

  test("stays unknown when the platform does not answer", async () => {
    const client = new Client({
      retries: 0,
      baseUrl: "http://platform.test",
      apiKey: "key",
      fetch: async () => Response.json({}, { status: 503 }),
    });
    await expect(find(client, intent())).rejects.toMatchObject({ code: "API_ERROR", status: 503 });
  });
});

describe.each(ways)("a write before a restore, as $kind", ({ kind, find }) => {
  const lost = (options: IntentOptions = {}) =>
    intent({ at: startedAt + 86_400_000, lookedForMs: 0, ...options });

  test("is found when it is newer than the event, however old the intent is", async () => {
    const { client } = clientFor([[{ id: "x_1", after: 0 }]]);
    expect(await find(client, lost())).toMatchObject({ result: { id: "x_1" } });
  });

  test("is not what is older than the event, whole seconds of the platform aside", async () => {
    const { client } = clientFor([[{ id: "x_1", after: -1_001 }]]);
    expect(await find(client, lost())).toBeUndefined();
    const { client: whole } = clientFor([[{ id: "x_1", after: -999 }]]);
    expect(await find(whole, lost())).toMatchObject({ result: { id: "x_1" } });
  });

  test("is the oldest with that text that no other step has, for each of several events", async () => {
    const said = [
      { id: "x_2", after: 2_000 },
      { id: "x_1", after: 1_000 },
    ];
    const { client } = clientFor([said]);
    expect(await find(client, lost())).toMatchObject({ result: { id: "x_1" } });
    const second = lost({ claimed: [refOf(kind, "x_1")] });
    expect(await find(client, second)).toMatchObject({ result: { id: "x_2" } });
    const third = lost({ claimed: [refOf(kind, "x_1"), refOf(kind, "x_2")] });
    expect(await find(client, third)).toBeUndefined();
  });

  test("may have been other words: another event may take them, or else a person must look", async () => {
    const { client } = clientFor([[{ id: "x_1", text: "at 12:00" }]]);
    await expect(find(client, lost({ lookedForMs: 1_000 }))).rejects.toMatchObject({
      code: "RETRY_LATER",
      delayMs: 4_000,
      counts: false,
    });
    const later = lost({ lookedForMs: 5_000 });
    await expect(find(client, later)).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
      message: expect.stringMatching(/restored from a backup.*x_1.*inbox retry 1 --assume done/),
    });
  });

  test("were not these words when they belong to another step, are older or are another user's", async () => {
    const { client } = clientFor([
      [
        { id: "x_1", text: "a" },
        { id: "x_2", text: "b", fromBot: false, author: "ada" },
        { id: "x_3", text: "c", after: -2_000 },
      ],
    ]);
    const open = lost({ claimed: [refOf(kind, "x_1")], lookedForMs: 5_000 });
    expect(await find(client, open)).toBeUndefined();
  });

  test("is taken for these words where there are others, too", async () => {
    const { client } = clientFor([[{ id: "x_2" }, { id: "x_1", text: "a" }]]);
    expect(await find(client, lost({ lookedForMs: 5_000 }))).toMatchObject({
      result: { id: "x_2" },
    });
  });

  test("is recognized by its images as well", async () => {
    const { client } = clientFor([[{ id: "x_1", images: 1 }]]);
    const open = lost({ lookedForMs: 5_000 });
    await expect(find(client, open)).rejects.toMatchObject({ code: "STEP_UNCERTAIN" });
    const request = JSON.stringify({ text: "hello", imageCount: 1 });
    expect(await find(client, { ...open, request })).toMatchObject({ result: { id: "x_1" } });
  });
});

test("comments without an author are not taken for the bot's other words", async () => {
  const open = intent({ lookedForMs: 5_000 });
  const { client } = clientFor([[{ id: "x_1", text: "a", author: null }]]);
  expect(await findComment(client, open)).toBeUndefined();
  const unnamed = clientFor([[{ id: "x_1", text: "a" }]], { me: {} });
  expect(await findComment(unnamed.client, open)).toBeUndefined();
});

describe("of messages", () => {
  test("no more are read than are newer than the intent: they come newest first", async () => {
    const { client, asked } = clientFor([[{ id: "old", after: -10_000 }], [{ id: "x_1" }]]);
    expect(await findMessage(client, intent())).toBeUndefined();
    expect(asked).toHaveLength(1);
  });
});

describe("of comments", () => {
  test("all are read, for their order is not documented", async () => {
    const { client } = clientFor([[{ id: "old", after: -10_000 }], [{ id: "x_1" }]]);
    expect(await findComment(client, intent())).toMatchObject({
      result: { id: "x_1" },
    });
  });

  test("the bot's account is requested only if there is something to compare", async () => {
    const { client, asked } = clientFor([[{ id: "x_1", text: "other" }]]);
    await findComment(client, intent());
    expect(asked.filter((path) => path.endsWith("/me"))).toEqual([]);
  });

  test.each<[string, Said, unknown]>([
    ["the platform does not say whose it is", { id: "x_1", author: null }, { username: "bot" }],
    ["the platform does not say who the bot is", { id: "x_1" }, {}],
  ])("when %s, a person must look", async (_name, said, me) => {
    const { client } = clientFor([[said]], { me });
    await expect(findComment(client, intent())).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
    });
  });

  test("one without an author and with another text does no harm", async () => {
    const { client } = clientFor([[{ id: "x_2", author: null, text: "other" }, { id: "x_1" }]]);
    expect(await findComment(client, intent())).toMatchObject({
      result: { id: "x_1" },
    });
  });
});

describe("a post that an earlier run may have made", () => {
  test("is found in the feed: the bot's own, with the same text, newer than the intent", async () => {
    const { client } = clientFor([
      [
        { id: "x_1", author: "ada" },
        { id: "x_2", text: "other" },
        { id: "x_3", after: -60_000 },
      ],
      [{ id: "x_4" }],
    ]);
    expect(await findPost(client, intent())).toMatchObject({
      result: { id: "x_4" },
      ref: refOf("post", "x_4"),
    });
  });

  test.each([
    ["without end", Array.from({ length: 30 }, () => [{ id: "x_1" }]), {}],
    ["whose cursor stays the same", [[{ id: "x_1" }]], { cursor: "0" }],
  ])("is found in a feed %s", async (_name, pages, options) => {
    const { client } = clientFor(pages, options);
    expect(await findPost(client, intent())).toMatchObject({ result: { id: "x_1" } });
  });

  test.each<[string, readonly (readonly Said[])[], { me?: unknown; claimed?: readonly string[] }]>([
    ["is not there", [[{ id: "x_1", text: "other" }]], {}],
    ["is the result of another step", [[{ id: "x_1" }]], { claimed: [refOf("post", "x_1")] }],
    ["may be anybody's", [[{ id: "x_1" }]], { me: {} }],
  ])("is left to a person when it %s", async (_name, pages, { me, claimed = [] }) => {
    const { client } = clientFor(pages, me === undefined ? {} : { me });
    await expect(findPost(client, intent({ claimed }))).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
    });
  });

  test.each([403, 404])("is left to an operator when the feed responds with %i", async (status) => {
    await expect(findPost(refusing(status), intent())).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
    });
  });

  test("is looked for again when the platform is away", async () => {
    await expect(findPost(refusing(503), intent())).rejects.toMatchObject({ status: 503 });
  });

  test("before a restore is found when it is newer than the event", async () => {
    const open = intent({ at: startedAt + 86_400_000, lookedForMs: 0 });
    const { client } = clientFor([[{ id: "x_1", after: 500 }]]);
    expect(await findPost(client, open)).toMatchObject({ result: { id: "x_1" } });
  });
});

test.each([
  ["message", (scope: Scope) => messageStep("answer", "c_1", { text: "hello" }, scope)],
  ["post", (scope: Scope) => postStep("announcement", { text: "hello" }, scope)],
])("the step of a %s that may have been sent looks for it", async (_kind, stepOf) => {
  const { client } = clientFor([[{ id: "x_1" }]]);
  expect(await look<unknown>(stepOf({ client, signal }), intent())).toMatchObject({
    result: { id: "x_1" },
  });
});

function refusing(status: number): Client {
  return new Client({
    retries: 0,
    baseUrl: "http://platform.test",
    apiKey: "key",
    fetch: async (address) =>
      new URL(address).pathname.endsWith("/me")
        ? Response.json({ username: "bot" })
        : Response.json({}, { status }),
  });
}
