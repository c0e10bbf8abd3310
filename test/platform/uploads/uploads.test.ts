import { expect, test } from "vitest";
import { withChunk } from "../../client/images/samples.ts";
import { MAX_IMAGE_BYTES } from "../../faces/platform.ts";
import {
  formWith,
  image,
  imageOf,
  kinds,
  newUpload,
  type Upload,
  uploadBytes,
  uploadForm,
} from "../support/images.ts";
import { type ErrorBody, request, runPlatform, tokenWith } from "../support/platform.ts";
import { startWithDownloads } from "./start.ts";

const expected = (platform: { url: string }, bytes: number, kind: string) => {
  const file = `^${platform.url}/media/[0-9a-f]{32}\\.`;
  const url = expect.stringMatching(`${file}${kind}$`);
  const thumbUrl = expect.stringMatching(`${file}thumb\\.webp$`);
  const key = expect.stringMatching(/^img_[\w-]{32}$/);
  return { key, url, thumbUrl, width: 9, height: 7, bytes };
};

test.each(kinds)("a %s is accepted as base64", async (kind) => {
  const platform = await runPlatform();
  const bytes = await image(kind);
  const { status, body } = await uploadBytes(platform, bytes, { contentType: `image/${kind}` });
  expect(status).toBe(200);
  expect(body).toEqual(expected(platform, bytes.byteLength, kind));
});

test.each(kinds)(
  "a %s is accepted as a file part, regardless of its name and type",
  async (kind) => {
    const platform = await runPlatform();
    const bytes = await image(kind);
    const { status, body } = await uploadForm(platform, formWith(bytes));
    expect(status).toBe(200);
    expect(body).toEqual(expected(platform, bytes.byteLength, kind));
  },
);

test.each(kinds)("a %s is accepted from a URL", async (kind) => {
  const bytes = await image(kind);
  const platform = await startWithDownloads((response) => response.end(bytes));
  const url = "https://images.example/picture";
  const { status, body } = await request(platform, "POST", "/api/v1/uploads", { body: { url } });
  expect(status).toBe(200);
  expect(body).toEqual(expected(platform, bytes.byteLength, kind));
});

test("an image's URL does not reveal its key", async () => {
  const platform = await runPlatform();
  const [one, other] = [await newUpload(platform), await newUpload(platform)];
  expect(one.url).not.toBe(other.url);
  expect(one.key).not.toBe(other.key);
  expect(one.url).not.toContain(one.key.slice("img_".length));
});

const pixel = "iVBORw0KGgo=";
const cases: readonly (readonly [string, unknown])[] = [
  ["nothing", {}],
  ["an array", []],
  ["two forms", { url: "https://example.org/", dataBase64: pixel, contentType: "image/png" }],
  ["a URL with a type", { url: "https://example.org/", contentType: "image/png" }],
  ["bytes without a type", { dataBase64: pixel }],
  ["a type without bytes", { contentType: "image/png" }],
  ["a type of another kind", { dataBase64: pixel, contentType: "image/svg+xml" }],
  ["a type that is no image", { dataBase64: pixel, contentType: "text/html" }],
  ["a size that is cut off", { dataBase64: "R0lGODlhAQ==", contentType: "image/gif" }],
  ["no bytes", { dataBase64: "", contentType: "image/png" }],
  ["bytes that are no image", { dataBase64: "aGVsbG8=", contentType: "image/png" }],
  ["a header that is cut off", { dataBase64: pixel, contentType: "image/png" }],
  ["a URL that is none", { url: "images/a.png" }],
  ["a URL that is a number", { url: 5 }],
];

test.each([
  ["line breaks", (text: string) => text.replace(/^.{8}/, "$&\n")],
  ["no padding", (text: string) => text.replace(/=+$/, "")],
  ["the alphabet for URLs", (text: string) => text.replaceAll("+", "-").replaceAll("/", "_")],
  ["a data: prefix", (text: string) => `data:image/png;base64,${text}`],
  ["other characters", (text: string) => `${text.slice(0, 8)}%%${text.slice(8)}`],
])("an image in base64 with %s: 400 VALIDATION", async (_, spell) => {
  const platform = await runPlatform();
  // Covers every base64 character at every position, as well as padding.
  const png = await image();
  const data = [0xfb, 0xff, 0xbf, 0, 0xfb, 0xff, 0xbf, 0, 0xfb, 0xff, 0xbf];
  const rest = (png.byteLength + 12 + data.length) % 3;
  const fill = Buffer.alloc((5 - rest) % 3);
  const bytes = withChunk(png, "prVt", Buffer.concat([Buffer.from(data), fill]));
  const text = bytes.toString("base64");
  expect(text).toMatch(/(?=.*\+)(?=.*\/).*[^=]=$/);
  const upload = (dataBase64: string) =>
    request(platform, "POST", "/api/v1/uploads", {
      body: { dataBase64, contentType: "image/png" },
    });
  expect((await upload(text)).status).toBe(200);
  const { status, body } = await upload(spell(text));
  expect(status).toBe(400);
  expect(body.error.message).toContain("dataBase64 must be standard base64");
});

test.each(cases)("%s: 400 VALIDATION", async (_, body) => {
  const platform = await runPlatform();
  const answer = await request(platform, "POST", "/api/v1/uploads", { body });
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("VALIDATION");
});

test("a JPEG is measured even after many metadata segments", async () => {
  const platform = await runPlatform();
  const jpeg = await image("jpeg");
  const segment = Buffer.alloc(65_000, "x");
  segment.set([0xff, 0xfe, (segment.length - 2) >> 8, (segment.length - 2) & 0xff]);
  const comments = Array.from({ length: 10 }, () => segment);
  const bytes = Buffer.concat([jpeg.subarray(0, 2), ...comments, jpeg.subarray(2)]);
  const { body } = await uploadBytes(platform, bytes, { contentType: "image/jpeg" });
  expect(body).toMatchObject({ width: 9, height: 7, bytes: bytes.byteLength });
});

test("a type that does not match the bytes is reported", async () => {
  const platform = await runPlatform();
  const jpeg = await image("jpeg");
  const { status, body } = await uploadBytes<ErrorBody>(platform, jpeg);
  expect(status).toBe(400);
  expect(body.error).toEqual({
    code: "VALIDATION",
    message: "contentType is image/png, but the bytes are jpeg",
  });
});

test("5 MB are accepted in each form, and one more byte is TOO_LARGE", {
  timeout: 30_000,
}, async () => {
  const whole = await imageOf(MAX_IMAGE_BYTES);
  const over = await imageOf(MAX_IMAGE_BYTES + 1);
  const platform = await startWithDownloads((response, path) => {
    response.end(path === "/over" ? over : whole);
  });
  const fromUrl = (path: string) =>
    request<Upload & ErrorBody>(platform, "POST", "/api/v1/uploads", {
      body: { url: `https://images.example/${path}` },
    });
  const fits = [
    await uploadBytes(platform, whole),
    await uploadForm(platform, formWith(whole)),
    await fromUrl("whole"),
  ];
  expect(fits.map(({ status, body }) => [status, body.bytes])).toEqual(
    fits.map(() => [200, MAX_IMAGE_BYTES]),
  );
  const refused = [
    await uploadBytes<ErrorBody>(platform, over),
    await uploadBytes<ErrorBody>(platform, Buffer.alloc(8 * 1024 * 1024)),
    await uploadForm(platform, formWith(over)),
    await fromUrl("over"),
  ];
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
    refused.map(() => [400, "TOO_LARGE"]),
  );
});

test("other endpoints still accept bodies of at most 1 MB", async () => {
  const platform = await runPlatform();
  const body = { text: "hi", x: "x".repeat(1024 * 1024) };
  const { status } = await request(platform, "POST", "/api/v1/posts", { body });
  expect(status).toBe(413);
});

test.each(["posts:write", "comments:write", "dm"] as const)(
  "the scope %s is enough for an upload",
  async (scope) => {
    const platform = await runPlatform();
    const { status } = await uploadBytes(platform, await image(), {
      token: tokenWith(platform, scope),
    });
    expect(status).toBe(200);
  },
);

test("an upload without a token gets 401, in each form", async () => {
  const platform = await runPlatform();
  const url = `${platform.url}/api/v1/uploads`;
  const form = formWith(await image());
  expect((await fetch(url, { method: "POST", body: form })).status).toBe(401);
  expect((await fetch(url, { method: "POST" })).status).toBe(401);
});

test("without storage uploads get 503, and other requests still work", async () => {
  const platform = await runPlatform();
  platform.control.setStorage({ configured: false });
  const { status, body } = await uploadBytes<ErrorBody>(platform, await image());
  expect(status).toBe(503);
  expect(body.error.code).toBe("NOT_CONFIGURED");
  const post = await request(platform, "POST", "/api/v1/posts", { body: { text: "hi" } });
  expect(post.status).toBe(201);
  platform.control.setStorage({ configured: true });
  expect((await newUpload(platform)).width).toBe(9);
});
