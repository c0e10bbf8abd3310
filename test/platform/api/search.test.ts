import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { act, request, runPlatform } from "../support/platform.ts";

interface Found {
  readonly items: readonly { readonly id: string; readonly type: string }[];
  readonly nextCursor: string | null;
}

async function search(platform: Platform, q: string, more = ""): Promise<Found> {
  const path = `/api/v1/search?q=${encodeURIComponent(q)}${more}`;
  const { status, body } = await request<Found>(platform, "GET", path);
  expect(status).toBe(200);
  return body;
}

const idsOf = ({ items }: Found) => items.map(({ id }) => id);

async function run(): Promise<Platform> {
  const platform = await runPlatform();
  act(platform, "mention", { from: "cleo", text: "Clouds, cleo's" });
  act(platform, "mention", { from: "cleon", text: "more CLOUDS" });
  return platform;
}

test("users come first, then posts, each newest first", async () => {
  const platform = await run();
  const found = await search(platform, "cleo");
  expect(idsOf(found)).toEqual(["u_5", "u_4", "p_2"]);
  const user = await request<object>(platform, "GET", "/api/v1/users/cleon");
  const post = await request<object>(platform, "GET", "/api/v1/posts/p_2");
  expect(found.items[0]).toEqual({ type: "user", ...user.body });
  expect(found.items[2]).toEqual(post.body);
  expect(found.nextCursor).toBeNull();
});

test.each([
  ["clouds", ["p_3", "p_2"]],
  ["  ClOuDs ", ["p_3", "p_2"]],
  ["bot", ["u_1", "p_3", "p_2"]],
  ["CLEON", ["u_5"]],
  ["hello", ["p_1"]],
  ["nothing of the kind", []],
  ["%", []],
  ["_", []],
  ["c*", []],
])("%j finds %j", async (q, expected) => {
  expect(idsOf(await search(await run(), q))).toEqual(expected);
});

test("letters beyond ASCII are found in any case", async () => {
  const platform = await runPlatform();
  act(platform, "mention", { text: "ÜBER ΑΘΗΝΑ" });
  expect(idsOf(await search(platform, "über"))).toEqual(["p_2"]);
  expect(idsOf(await search(platform, "αθηνα"))).toEqual(["p_2"]);
});

test("comments and messages are not found", async () => {
  const platform = await runPlatform();
  act(platform, "comment", { text: "needle" });
  act(platform, "dm.message", { text: "needle" });
  expect(idsOf(await search(platform, "needle"))).toEqual([]);
});

test.each([1, 2, 3, 4])("pages of %i reach the end without a gap", async (limit) => {
  const platform = await run();
  // Post numbers exceed user numbers, so paging by number alone would fail.
  act(platform, "mention", { from: "cleo", text: "cleo again", count: 4 });
  const all = ["u_5", "u_4", "p_7", "p_6", "p_5", "p_4", "p_2"];
  const seen: string[] = [];
  let more = `&limit=${limit}`;
  for (let cursor: string | null = ""; cursor !== null; more = `&limit=${limit}&cursor=${cursor}`) {
    const found = await search(platform, "cleo", more);
    expect(found.items.length).toBeLessThanOrEqual(limit);
    seen.push(...idsOf(found));
    cursor = found.nextCursor;
  }
  expect(seen).toEqual(all);
});

test.each([
  "",
  "?q=",
  "?q=%20",
  `?q=${"x".repeat(201)}`,
  "?q=a&q=b",
  "?q=a&limit=0",
  "?q=a&limit=51",
  "?q=a&cursor=x",
  "?q=a&cursor=",
  "?q=a&cursor=cm_1",
])("/search%s gets 400 VALIDATION", async (query) => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", `/api/v1/search${query}`);
  expect(status).toBe(400);
  expect(body.error.code).toBe("VALIDATION");
});
