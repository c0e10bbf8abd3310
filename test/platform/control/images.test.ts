import { expect, test } from "vitest";
import type { ActInput, ActResult, Platform, UploadView } from "../../faces/platform.ts";
import { image } from "../support/images.ts";
import {
  act,
  type ErrorBody,
  request,
  runPlatform,
  tokenWith,
  withControlToken,
} from "../support/platform.ts";

interface Sent {
  readonly status: number;
  readonly body: UploadView & Partial<ErrorBody>;
}

async function send(
  platform: Platform,
  bytes: Buffer<ArrayBuffer>,
  { query = "?from=ada", type = "image/png" } = {},
): Promise<Sent> {
  const headers = { "content-type": type, ...withControlToken(platform) };
  const url = `${platform.url}/control/v1/images${query}`;
  const response = await fetch(url, { method: "POST", headers, body: bytes });
  return { status: response.status, body: (await response.json()) as Sent["body"] };
}

const attempt = (platform: Platform, input: Partial<ActInput>) =>
  request<ActResult & Partial<ErrorBody>>(platform, "POST", "/control/v1/act", {
    body: { type: "dm.message", from: "ada", ...input },
  });

test("an image is stored, and its user's action shows it", async () => {
  const platform = await runPlatform();
  const bytes = await image("png");
  const { status, body } = await send(platform, bytes);
  expect(status).toBe(201);
  expect(body).toMatchObject({ width: 9, height: 7, bytes: bytes.byteLength });
  expect(body.url).toMatch(`${platform.url}/media/`);
  const shown = await fetch(body.url);
  expect(Buffer.from(await shown.arrayBuffer()).equals(bytes)).toBe(true);
  const { conversationId = "" } = act(platform, "dm.message", {
    text: "",
    imageKeys: [body.key],
    images: 1,
  });
  const [message] = platform.control.messages(conversationId);
  // Uploaded images come before generated ones.
  expect(message?.images).toMatchObject([{ url: body.url, width: 9 }, { width: 640 }]);
});

test("posts, comments and replies accept keys, and the upload creates its user", async () => {
  const platform = await runPlatform();
  for (const type of ["post", "mention", "comment", "reply", "quote"] as const) {
    const from = `new-${type}`;
    const { key } = await platform.control.addImage(await image("webp"), { from });
    expect(platform.control.people.map(({ username }) => username)).toContain(from);
    platform.control.act({ type, from, imageKeys: [key] });
  }
  const written = [...platform.control.posts().items, ...platform.control.comments("p_1")];
  const images = written.filter(({ author }) => author.username.startsWith("new-"));
  expect(images.map(({ images }) => images.length)).toEqual([1, 1, 1, 1, 1]);
});

test("a key is valid once, for its user, within an hour; a failed action consumes none", async () => {
  const platform = await runPlatform();
  const key = async () => (await send(platform, await image())).body.key;
  const [one, two] = [await key(), await key()];
  const refused = async (input: Partial<ActInput>) => {
    const before = platform.control.conversations();
    const { status, body } = await attempt(platform, input);
    expect(platform.control.conversations()).toEqual(before);
    return [status, body.error?.code];
  };
  expect(await refused({ from: "ben", imageKeys: [one] })).toEqual([400, "INVALID_IMAGE_KEY"]);
  expect(await refused({ imageKeys: [one, "img_none"] })).toEqual([400, "INVALID_IMAGE_KEY"]);
  expect(await refused({ imageKeys: [one, one] })).toEqual([400, "INVALID_IMAGE_KEY"]);
  expect((await attempt(platform, { imageKeys: [one] })).status).toBe(201);
  expect(await refused({ imageKeys: [one] })).toEqual([400, "INVALID_IMAGE_KEY"]);
  platform.control.clock.set({ advanceMs: 3_600_000 });
  expect(await refused({ imageKeys: [two] })).toEqual([400, "INVALID_IMAGE_KEY"]);
});

test("a file that is not an image, is too large, or has another type is rejected like an upload", async () => {
  const platform = await runPlatform();
  const png = await image("png");
  for (const [bytes, options, status, code] of [
    [Buffer.from("no image"), {}, 400, "VALIDATION"],
    [png, { type: "image/jpeg" }, 400, "VALIDATION"],
    [Buffer.alloc(5 * 1024 * 1024 + 1), {}, 400, "TOO_LARGE"],
    [Buffer.alloc(0), {}, 400, "VALIDATION"],
    [png, { query: "" }, 400, "VALIDATION"],
    [png, { query: "?from=a%20b" }, 400, "VALIDATION"],
    [png, { type: "application/json" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    [png, { type: "text/plain" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
  ] as const) {
    const sent = await send(platform, bytes, options);
    expect([sent.status, sent.body.error?.code], JSON.stringify(options)).toEqual([status, code]);
  }
  expect((await send(platform, png)).status).toBe(201);
});

test("no quota counts it, and without storage it is rejected", async () => {
  const platform = await runPlatform();
  platform.control.setLimits({ uploadsPerDay: 0 });
  expect((await send(platform, await image())).status).toBe(201);
  expect(platform.control.limits.uploadsPerDay.used).toBe(0);
  platform.control.setStorage({ configured: false });
  const { status, body } = await send(platform, await image());
  expect([status, body.error?.code]).toEqual([503, "NOT_CONFIGURED"]);
});

test("a bot cannot use a user's key", async () => {
  const platform = await runPlatform();
  const { key } = (await send(platform, await image())).body;
  const token = tokenWith(platform, "posts:write");
  const body = { text: "mine", imageKeys: [key] };
  const answer = await request(platform, "POST", "/api/v1/posts", { token, body });
  expect(answer.body.error.code).toBe("INVALID_IMAGE_KEY");
});
