import { expect, test } from "vitest";
import { withChunk } from "../../client/images/samples.ts";
import { newUpload } from "../conformance/setup.ts";
import { image } from "../support/images.ts";
import { request, runPlatform, worldOf } from "../support/platform.ts";
import { startWithDownloads } from "./start.ts";

test("an image's URL does not reveal its key", async () => {
  const platform = await runPlatform();
  const [one, other] = [await newUpload(worldOf(platform)), await newUpload(worldOf(platform))];
  expect(one.url).not.toBe(other.url);
  expect(one.key).not.toBe(other.key);
  expect(one.url).not.toContain(one.key.slice("img_".length));
});

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

test("an app whose uploads are used up downloads no image", async () => {
  const asked: string[] = [];
  const platform = await startWithDownloads(
    (response, path) => {
      asked.push(path);
      response.end();
    },
    { limits: { uploadsPerDay: 0 } },
  );
  const body = { url: "https://images.example/a.png" };
  expect((await request(platform, "POST", "/api/v1/uploads", { body })).status).toBe(429);
  expect(asked).toEqual([]);
});
