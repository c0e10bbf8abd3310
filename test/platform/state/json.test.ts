import { expect, test } from "vitest";
import type { Platform, PlatformState } from "../../faces/platform.ts";
import { newUpload } from "../support/images.ts";
import { act, ids, request, runPlatform, withControlToken } from "../support/platform.ts";
import { rawRequest } from "../support/raw.ts";

type Row = Record<string, unknown>;

interface Exported {
  format: string;
  schema: number;
  tables: Record<string, Row[]>;
}

async function exported(platform: Platform): Promise<Exported> {
  return (await request<Exported>(platform, "GET", "/control/v1/export")).body;
}

function imported(platform: Platform, body: unknown) {
  return request(platform, "POST", "/control/v1/import", { body });
}

/** Somebody has been here: words of every kind, an image, a setting, a second app. */
async function livedIn(): Promise<Platform> {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "helper" });
  platform.control.setLimits({ dmsPerDay: 7 });
  act(platform, "dm.message", { text: "it's 日本 👩‍🚀\u0000\n", images: 2 });
  act(platform, "mention", { text: "hi" });
  act(platform, "like");
  await newUpload(platform);
  return platform;
}

/** Without what the other platform keeps of its own, and what it numbers anew. */
function content({ tables }: Exported): Record<string, Row[]> {
  const { token, webhook, setting = [], ...rest } = tables;
  const settings = setting.filter(({ name }) => name !== "event_floor");
  return {
    ...rest,
    settings,
    tokens: [{ count: token?.length }],
    webhooks: [{ count: webhook?.length }],
  };
}

test("the state is exported as JSON, to be kept as a file", async () => {
  const platform = await livedIn();
  const response = await fetch(`${platform.url}/control/v1/export`, {
    headers: withControlToken(platform),
  });
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="state.json"');
  expect(response.headers.get("content-type")).toContain("application/json");
  const { format, tables } = (await response.json()) as Exported;
  expect(format).toBe("service-bot platform state");
  expect(tables.user?.map(({ username }) => username)).toContain("helper");
  expect(tables.image?.[0]?.data).toEqual({ base64: expect.any(String) });
});

test("another platform takes it whole, and keeps its own token and secret", async () => {
  const [from, to] = [await livedIn(), await runPlatform()];
  const { apiKey, webhookSecret } = to;
  const state = await exported(from);
  const answer = await request<PlatformState>(to, "POST", "/control/v1/import", { body: state });
  expect(answer.status).toBe(200);
  expect(answer.body.people).toEqual(from.control.people);
  expect(content(await exported(to))).toEqual(content(state));
  expect({ apiKey: to.apiKey, webhookSecret: to.webhookSecret }).toEqual({ apiKey, webhookSecret });
  expect((await request(to, "GET", "/api/v1/me")).status).toBe(200);
  expect(to.control.limits.dmsPerDay.limit).toBe(7);
  expect(await to.waitFor("state", ({ change }) => change === "restored")).toMatchObject({
    detail: "an imported state",
  });
});

test("events go on above all numbers that were used, faults end", async () => {
  const [from, to] = [await livedIn(), await runPlatform()];
  act(to, "like", { count: 30 });
  to.control.setFaults({ api: { mode: "status" } });
  expect((await imported(to, await exported(from))).status).toBe(200);
  const [next = ""] = ids(act(to, "follow"));
  expect(next > "evt_000000000030").toBe(true);
  expect(to.control.faults.api.mode).toBe("none");
});

test("numbers that JSON would round, and bytes, come through", async () => {
  const [from, to] = [await livedIn(), await runPlatform()];
  const state = await exported(from);
  const big = { integer: "9007199254740993" };
  for (const row of state.tables.post ?? []) row.created_at = big;
  expect((await imported(to, state)).status).toBe(200);
  const { tables } = await exported(to);
  expect(tables.post?.[0]?.created_at).toEqual(big);
  expect(tables.image).toEqual(state.tables.image);
});

/** What is changed in a good state, and what the refusal says. */
const refused: readonly [string, (state: Exported) => unknown, RegExp][] = [
  ["nothing", () => ({}), /no state of a platform: take what GET \/control\/v1\/export gives/],
  ["a list", () => [], /./],
  ["another format", (state) => ({ ...state, format: "x" }), /take what GET \/control\/v1\/export/],
  ["a newer schema", (state) => ({ ...state, schema: 999 }), /version 999.*update service-bot/],
  ["an older schema", (state) => ({ ...state, schema: 1 }), /version 1 .*snapshots\/file/],
  ["a field more", (state) => ({ ...state, more: 1 }), /more/],
  ["no table", (state) => ({ ...state, tables: {} }), /user.* must be there/],
  ["a foreign table", (s) => ({ ...s, tables: { ...s.tables, x: [] } }), /there is no x$/],
  [
    "a table of SQLite",
    (s) => ({ ...s, tables: { ...s.tables, sqlite_schema: [] } }),
    /there is no/,
  ],
  ["no list", (s) => ({ ...s, tables: { ...s.tables, user: 7 } }), /tables\.user/],
  ["no row", (s) => rows(s, "user", () => null), /tables\.user\.0 must have the columns seq, /],
  ["a column less", (s) => rows(s, "user", ({ seq: _, ...row }) => row), /must have the columns/],
  ["a column more", (s) => rows(s, "user", (row) => ({ ...row, x: 1 })), /must have the columns/],
  [
    "a bool",
    (s) => rows(s, "user", (row) => ({ ...row, name: true })),
    /user\.0\.name is no value/,
  ],
  [
    "an object",
    (s) => rows(s, "user", (row) => ({ ...row, name: {} })),
    /user\.0\.name is no value/,
  ],
  [
    "no base64",
    (s) => rows(s, "user", (row) => ({ ...row, name: { base64: "%" } })),
    /user\.0\.name is no value/,
  ],
  ["a wrong type", (s) => rows(s, "user", (row) => ({ ...row, seq: "x" })), /tables\.user\.0: /],
  [
    "an integer too long",
    (s) => rows(s, "user", (row) => ({ ...row, seq: { integer: "9".repeat(19) } })),
    /./,
  ],
  ["a number twice", (s) => rows(s, "user", (row) => ({ ...row, seq: 1 })), /tables\.user\.1: /],
  [
    "a row that refers to nothing",
    (s) => rows(s, "post", (row) => ({ ...row, author: 999 })),
    /refers to nothing/,
  ],
  ["no bot", (s) => ({ ...s, tables: emptied(s) }), /./],
];

function rows({ tables, ...state }: Exported, table: string, change: (row: Row) => unknown) {
  return { ...state, tables: { ...tables, [table]: (tables[table] ?? []).map(change) } };
}

function emptied({ tables }: Exported): Record<string, Row[]> {
  return Object.fromEntries(Object.keys(tables).map((table) => [table, []]));
}

test.each(refused)(
  "%s is refused with what is wrong, and changes nothing",
  async (_, change, said) => {
    const platform = await livedIn();
    const before = await exported(platform);
    const { status, body } = await imported(platform, change(structuredClone(before)));
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: "VALIDATION", message: expect.stringMatching(said) });
    expect(await exported(platform)).toEqual(before);
  },
);

test("__proto__ is a name like any other that is not there", async () => {
  const platform = await runPlatform();
  const { tables, ...state } = await exported(platform);
  const text = JSON.stringify({ ...state, tables }).replace(
    '"tables":{',
    '"tables":{"__proto__":[],',
  );
  const response = await fetch(`${platform.url}/control/v1/import`, {
    method: "POST",
    headers: { "content-type": "application/json", ...withControlToken(platform) },
    body: text,
  });
  expect([200, 400]).toContain(response.status);
  expect(Object.keys((await exported(platform)).tables)).toEqual(Object.keys(tables));
});

test("what is longer than the file of a snapshot may be is refused before it is read", async () => {
  const platform = await runPlatform();
  const { status, text } = await rawRequest(platform, [
    "POST /control/v1/import HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    `X-Control-Token: ${platform.controlToken}`,
    `Content-Length: ${512 * 1024 * 1024 + 1}`,
  ]);
  expect(status).toBe(413);
  expect(text).toContain("--state FILE");
});

test("a state of many megabytes comes in and goes out", async () => {
  const platform = await runPlatform();
  act(platform, "post", { text: "x".repeat(4_000), count: 1_000 });
  const state = await exported(platform);
  expect((await imported(platform, state)).status).toBe(200);
  expect(content(await exported(platform))).toEqual(content(state));
});

test("an export that is broken off leaves the platform well", async () => {
  const platform = await runPlatform();
  act(platform, "post", { text: "x".repeat(4_000), count: 1_000 });
  const leave = new AbortController();
  const response = await fetch(`${platform.url}/control/v1/export`, {
    headers: withControlToken(platform),
    signal: leave.signal,
  });
  leave.abort();
  await expect(response.text()).rejects.toThrow();
  expect((await exported(platform)).tables.post?.length).toBeGreaterThan(1_000);
});
