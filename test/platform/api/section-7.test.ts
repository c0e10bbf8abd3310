import { expect, test } from "vitest";
import type { Platform, Scope } from "../../../src/platform/index.ts";
import { UPLOAD_LIFETIME_MS } from "../../../src/platform/store/images.ts";
import { MAX_IMAGE_BYTES } from "../../../src/platform/uploads/limits.ts";
import { ManualClock } from "../support/clock.ts";
import { formWith, image, imageOf, newKeys, newUpload } from "../support/images.ts";
import { act, tokenWith } from "../support/platform.ts";
import { startWithDownloads } from "../uploads/start.ts";

/** Every row of section 7 of the platform document, reached as a client would reach it. */

type Send = (platform: Platform, clock: ManualClock) => Promise<Response>;
type Row = readonly [status: number, code: string, condition: string, send: Send];

const json = async (platform: Platform, path: string, body: unknown, token = platform.apiKey) =>
  fetch(`${platform.url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const get = (platform: Platform, path: string, token = platform.apiKey) =>
  fetch(`${platform.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });

const upload =
  (body: unknown): Send =>
  (platform) =>
    json(platform, "/uploads", body);

const fromUrl = (url: string): Send => upload({ url });

const multipart = async (platform: Platform, bytes: Buffer<ArrayBuffer>) =>
  fetch(`${platform.url}/api/v1/uploads`, {
    method: "POST",
    headers: { authorization: `Bearer ${platform.apiKey}` },
    body: formWith(bytes),
  });

const dm = (platform: Platform, body: unknown, conversation = "c_2", token?: string) =>
  json(platform, `/dm/conversations/${conversation}/messages`, body, token);

const writes = ["/posts", "/posts/p_1/comments", "/dm/conversations/c_2/messages"];
const everywhere = (
  status: number,
  code: string,
  condition: string,
  body: (platform: Platform, clock: ManualClock) => unknown,
): Row[] =>
  writes.map((path) => [
    status,
    code,
    `${condition}, on ${path}`,
    async (platform, clock) => json(platform, path, await body(platform, clock)),
  ]);

const without = (scope: Scope): Scope[] =>
  (["read", "posts:write", "comments:write", "dm"] as const).filter((other) => other !== scope);

const rows: readonly Row[] = [
  [400, "BLOCKED_HOST", "a private address", fromUrl("https://192.168.0.1/a.png")],
  [400, "BLOCKED_HOST", "not https", fromUrl("http://images.example/a.png")],
  [400, "BLOCKED_HOST", "a redirect", fromUrl("https://images.example/moved")],
  [400, "BLOCKED_HOST", "unreachable", fromUrl("https://images.example/gone")],
  [400, "NOT_IMAGE", "a page", fromUrl("https://images.example/page")],
  [400, "NOT_IMAGE", "nothing there", fromUrl("https://images.example/missing")],
  [400, "TOO_LARGE", "over 5 MB", fromUrl("https://images.example/large")],
  [400, "TOO_LARGE", "over 5 MB", async (p) => multipart(p, await imageOf(MAX_IMAGE_BYTES + 1))],
  [400, "VALIDATION", "another type", async (p) => multipart(p, Buffer.from("<svg/>"))],
  [400, "VALIDATION", "another shape", upload({ image: "a" })],
  ...everywhere(400, "INVALID_IMAGE_KEY", "no key at all", () => ({ imageKeys: ["img_x"] })),
  ...everywhere(400, "INVALID_IMAGE_KEY", "a consumed key", async (platform) => {
    const imageKeys = await newKeys(platform, 1);
    await json(platform, "/posts", { imageKeys });
    return { imageKeys };
  }),
  ...everywhere(400, "INVALID_IMAGE_KEY", "an expired key", async (platform, clock) => {
    const imageKeys = await newKeys(platform, 1);
    clock.advance(UPLOAD_LIFETIME_MS);
    return { imageKeys };
  }),
  ...everywhere(400, "INVALID_IMAGE_KEY", "a key of another app", async (platform) => {
    const { apiKey } = platform.control.createToken(["dm"], "other");
    return { imageKeys: [(await newUpload(platform, apiKey)).key] };
  }),
  ...everywhere(400, "TOO_MANY_IMAGES", "five keys", async (platform) => ({
    imageKeys: await newKeys(platform, 5),
  })),
  [
    400,
    "GROUP_UNSUPPORTED",
    "a group",
    (platform) => {
      const { conversationId } = platform.control.createGroup({ members: ["ada", "ben", "bot"] });
      return dm(platform, { text: "hi" }, conversationId);
    },
  ],
  [400, "EMPTY", "neither text nor image", (platform) => dm(platform, {})],
  [400, "TOO_LONG", "a long text", (platform) => dm(platform, { text: "x".repeat(4001) })],
  [
    403,
    "AGENT_SCOPE_MISSING",
    "no write scope, on /uploads",
    async (p) => json(p, "/uploads", { url: "https://images.example/a" }, tokenWith(p, "read")),
  ],
  [
    403,
    "AGENT_SCOPE_MISSING",
    "no dm, to send",
    (p) => dm(p, { text: "hi" }, "c_2", tokenWith(p, ...without("dm"))),
  ],
  [
    403,
    "AGENT_SCOPE_MISSING",
    "no dm, to list",
    (p) => get(p, "/dm/conversations", tokenWith(p, ...without("dm"))),
  ],
  [
    403,
    "AGENT_SCOPE_MISSING",
    "no posts:write",
    (p) => json(p, "/posts", { text: "hi" }, tokenWith(p, ...without("posts:write"))),
  ],
  [
    403,
    "AGENT_SCOPE_MISSING",
    "no comments:write",
    (p) =>
      json(p, "/posts/p_1/comments", { text: "hi" }, tokenWith(p, ...without("comments:write"))),
  ],
  [
    403,
    "BLOCKED",
    "blocked by the person",
    (platform) => {
      platform.control.setBlock({ by: "ada" });
      return dm(platform, { text: "hi" });
    },
  ],
  [
    403,
    "BLOCKED",
    "blocked by the bot",
    (platform) => {
      platform.control.setBlock({ by: "bot", whom: "ada" });
      return dm(platform, { text: "hi" });
    },
  ],
  [
    403,
    "AGENT_SCOPE_MISSING",
    "neither read nor dm, on /events",
    (p) => get(p, "/events", tokenWith(p, "posts:write", "comments:write")),
  ],
  [404, "NOT_FOUND", "not a participant", (platform) => dm(platform, { text: "hi" }, "c_1")],
  [404, "NOT_FOUND", "no such conversation", (platform) => dm(platform, { text: "hi" }, "c_9")],
  [404, "NOT_FOUND", "not a participant", (p) => get(p, "/dm/conversations/c_1/messages")],
  [
    429,
    "QUOTA_EXCEEDED",
    "uploads used up",
    async (platform) => {
      platform.control.setLimits({ uploadsPerDay: 0 });
      return multipart(platform, await image());
    },
  ],
  [
    429,
    "QUOTA_EXCEEDED",
    "messages used up",
    (platform) => {
      platform.control.setLimits({ dmsPerDay: 0 });
      return dm(platform, { text: "hi" });
    },
  ],
  [
    503,
    "NOT_CONFIGURED",
    "no storage",
    async (platform) => {
      platform.control.setStorage({ configured: false });
      return multipart(platform, await image());
    },
  ],
];

test.each(rows)("%i %s: %s", async (status, code, _, send) => {
  const clock = new ManualClock();
  const platform = await startWithDownloads(
    (response, path) => {
      if (path === "/moved") response.writeHead(302, { location: "/a.png" }).end();
      else if (path === "/gone") response.destroy();
      else if (path === "/missing") response.writeHead(404).end();
      else if (path === "/large") response.end(Buffer.alloc(MAX_IMAGE_BYTES + 1));
      else response.end("<html></html>");
    },
    { clock },
  );
  act(platform, "dm.message");
  const response = await send(platform, clock);
  expect(response.status).toBe(status);
  const message = expect.stringMatching(/.{10}/);
  expect(await response.json()).toEqual({ error: { code, message } });
});

test("the table has every code of the section", () => {
  const codes = new Set(rows.map(([, code]) => code));
  expect([...codes].sort()).toEqual([
    "AGENT_SCOPE_MISSING",
    "BLOCKED",
    "BLOCKED_HOST",
    "EMPTY",
    "GROUP_UNSUPPORTED",
    "INVALID_IMAGE_KEY",
    "NOT_CONFIGURED",
    "NOT_FOUND",
    "NOT_IMAGE",
    "QUOTA_EXCEEDED",
    "TOO_LARGE",
    "TOO_LONG",
    "TOO_MANY_IMAGES",
    "VALIDATION",
  ]);
});
