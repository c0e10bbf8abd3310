import { expect } from "vitest";
import { formWith, image, imageOf } from "../support/images.ts";
import { call, control, expectRefusal, get, post, read } from "./http.ts";
import { type Respond, rule, ruleOfDownloads } from "./rule.ts";
import {
  act,
  advance,
  conversationOfOthers,
  conversationWith,
  groupWithBot,
  HOUR,
  messagesOf,
  newKeys,
  newPost,
  newUpload,
  rawBytes,
  setLimits,
  tokenOfOtherApp,
  tokenWith,
  writePaths,
} from "./setup.ts";
import type { Content, Page } from "./wire.ts";
import type { World } from "./world.ts";

/** Section 7: every row, on every endpoint that it names. */

const OVER_5_MB = 5 * 1024 * 1024 + 1;

const internet: Respond = (response, path) => {
  if (path === "/large") response.end(Buffer.alloc(OVER_5_MB));
  else if (path === "/missing") response.writeHead(404).end();
  else response.setHeader("content-type", "text/html").end("<html></html>");
};

const at = (path: string) => ({ url: `https://images.example${path}` });

/** Expects 400 with this code for these keys, wherever there are imageKeys, and that nothing is made. */
async function expectKeysRefused(
  world: World,
  keys: () => Promise<readonly string[]>,
  code: string,
): Promise<void> {
  const paths = await writePaths(world);
  const feed = () => read<Page<Content>>(world, "/feed");
  const before = await feed();
  for (const path of paths) {
    expectRefusal(await post(world, path, { text: "look", imageKeys: await keys() }), 400, code);
  }
  const [, comments, messages] = paths;
  expect((await read<Page<Content>>(world, comments)).items).toEqual([]);
  expect((await read<Page<Content>>(world, messages)).items).toHaveLength(1);
  // The one thing that may have been made since is what consumed the keys.
  expect((await feed()).items.filter(({ text }) => text === "look")).toEqual([]);
  expect(before.items.length).toBeGreaterThan(0);
}

rule("7.BLOCKED_HOST.unreachable", async (world) => {
  // A name that nobody has (RFC 2606).
  const url = "https://nowhere.example/image.png";
  expectRefusal(await post(world, "/uploads", { url }), 400, "BLOCKED_HOST");
});

rule("7.BLOCKED_HOST.internal", async (world) => {
  const url = "https://192.168.1.1/image.png";
  expectRefusal(await post(world, "/uploads", { url }), 400, "BLOCKED_HOST");
});

ruleOfDownloads("7.NOT_IMAGE", internet, async (world) => {
  expectRefusal(await post(world, "/uploads", at("/page")), 400, "NOT_IMAGE");
  expectRefusal(await post(world, "/uploads", at("/missing")), 400, "NOT_IMAGE");
});

ruleOfDownloads("7.TOO_LARGE", internet, async (world) => {
  const bytes = await imageOf(OVER_5_MB);
  const answers = [
    await post(world, "/uploads", at("/large")),
    await post(world, "/uploads", rawBytes(bytes)),
    await call(world, "POST", "/uploads", { body: formWith(bytes) }),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(400);
    expect(["TOO_LARGE", "VALIDATION"]).toContain(body.error.code);
  }
});

rule("7.VALIDATION.type", async (world) => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');
  const answers = [
    await post(world, "/uploads", rawBytes(svg, "image/svg+xml")),
    await post(world, "/uploads", rawBytes(svg, "image/png")),
    await call(world, "POST", "/uploads", { body: formWith(svg) }),
  ];
  for (const answer of answers) expectRefusal(answer, 400, "VALIDATION");
});

rule("7.VALIDATION.shape", async (world) => {
  const { dataBase64 } = rawBytes(await image());
  for (const body of [{}, [], "url", { url: 5 }, { image: "x" }, { dataBase64, url: "x" }]) {
    expectRefusal(await post(world, "/uploads", body), 400, "VALIDATION");
  }
});

rule("7.INVALID_IMAGE_KEY.invalid", (world) =>
  expectKeysRefused(world, async () => ["img_never_issued"], "INVALID_IMAGE_KEY"),
);

rule("7.INVALID_IMAGE_KEY.expired", async (world) => {
  const keys = await newKeys(world, 1);
  await advance(world, HOUR);
  await expectKeysRefused(world, async () => keys, "INVALID_IMAGE_KEY");
});

rule("7.INVALID_IMAGE_KEY.consumed", async (world) => {
  const keys = await newKeys(world, 1);
  await newPost(world, { imageKeys: keys });
  await expectKeysRefused(world, async () => keys, "INVALID_IMAGE_KEY");
});

rule("7.INVALID_IMAGE_KEY.other-app", async (world) => {
  const { key } = await newUpload(world, await tokenOfOtherApp(world));
  await expectKeysRefused(world, async () => [key], "INVALID_IMAGE_KEY");
});

rule("7.TOO_MANY_IMAGES", (world) =>
  expectKeysRefused(world, () => newKeys(world, 5), "TOO_MANY_IMAGES"),
);

rule("7.GROUP_UNSUPPORTED", async (world) => {
  const path = messagesOf(await groupWithBot(world));
  expectRefusal(await post(world, path, { text: "hi" }), 400, "GROUP_UNSUPPORTED");
});

rule("7.EMPTY", async (world) => {
  const path = messagesOf(await conversationWith(world));
  for (const body of [{}, { text: "" }, { imageKeys: [] }, { text: "", imageKeys: [] }]) {
    expectRefusal(await post(world, path, body), 400, "EMPTY");
  }
});

rule("7.TOO_LONG", async (world) => {
  const path = messagesOf(await conversationWith(world));
  expectRefusal(await post(world, path, { text: "x".repeat(100_000) }), 400, "TOO_LONG");
});

rule("7.AGENT_SCOPE_MISSING.upload", async (world) => {
  const token = await tokenWith(world, "read");
  const body = rawBytes(await image());
  expectRefusal(await post(world, "/uploads", body, token), 403, "AGENT_SCOPE_MISSING");
});

rule("7.AGENT_SCOPE_MISSING.dm", async (world) => {
  const path = messagesOf(await conversationWith(world));
  const token = await tokenWith(world, "read", "posts:write", "comments:write");
  const code = "AGENT_SCOPE_MISSING";
  expectRefusal(await get(world, "/dm/conversations", token), 403, code);
  expectRefusal(await get(world, path, token), 403, code);
  expectRefusal(await post(world, path, { text: "hi" }, token), 403, code);
});

rule("7.BLOCKED.by-person", async (world) => {
  const path = messagesOf(await conversationWith(world));
  await control(world, "PUT", "/blocks", { by: "ada", whom: "bot" });
  expectRefusal(await post(world, path, { text: "hi" }), 403, "BLOCKED");
});

rule("7.BLOCKED.by-bot", async (world) => {
  const path = messagesOf(await conversationWith(world));
  await control(world, "PUT", "/blocks", { by: "bot", whom: "ada" });
  expectRefusal(await post(world, path, { text: "hi" }), 403, "BLOCKED");
});

rule("7.events", async (world) => {
  await act(world, "like");
  const { status, body } = await get(world, "/events", await tokenWith(world, "posts:write"));
  expect(status).toBe(403);
  expect(body.error.code).toMatch(/^[A-Z_]+$/);
});

rule("7.NOT_FOUND.outsider", async (world) => {
  const path = messagesOf(await conversationOfOthers(world));
  expectRefusal(await get(world, path), 404, "NOT_FOUND");
  expectRefusal(await post(world, path, { text: "hi" }), 404, "NOT_FOUND");
});

rule("7.NOT_FOUND.nothing", async (world) => {
  for (const path of [messagesOf("c_999999"), messagesOf("nonsense")]) {
    expectRefusal(await get(world, path), 404, "NOT_FOUND");
    expectRefusal(await post(world, path, { text: "hi" }), 404, "NOT_FOUND");
  }
});

rule("7.QUOTA_EXCEEDED.uploads", async (world) => {
  await setLimits(world, { uploadsPerDay: 2 });
  await newKeys(world, 2);
  const body = rawBytes(await image());
  expectRefusal(await post(world, "/uploads", body), 429, "QUOTA_EXCEEDED");
});

rule("7.QUOTA_EXCEEDED.dms", async (world) => {
  await setLimits(world, { dmsPerDay: 2 });
  const path = messagesOf(await conversationWith(world));
  for (const text of ["one", "two"]) expect((await post(world, path, { text })).status).toBe(201);
  expectRefusal(await post(world, path, { text: "three" }), 429, "QUOTA_EXCEEDED");
});

rule("7.NOT_CONFIGURED", async (world) => {
  await control(world, "PUT", "/storage", { configured: false });
  const body = rawBytes(await image());
  expectRefusal(await post(world, "/uploads", body), 503, "NOT_CONFIGURED");
});
