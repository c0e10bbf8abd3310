import sharp from "sharp";
import { expect } from "vitest";
import { MAX_IMAGE_BYTES } from "../../faces/platform.ts";
import { call, control, expectRefusal, post, read, write } from "../conformance/http.ts";
import { newPost, newUpload, rawBytes, writePaths } from "../conformance/setup.ts";
import type { Content, Page, Upload } from "../conformance/wire.ts";
import type { Respond } from "../conformance/world.ts";
import { formWith, image, imageOf } from "../support/images.ts";
import { choice } from "./choice.ts";

const png = await image();

const internet: Respond = (response, path) => {
  const status = Number(path.slice(1));
  response
    .writeHead(status, status < 400 ? { location: "/200" } : {})
    .end(status === 204 ? undefined : png);
};

choice("image type", async (world) => {
  const jpeg = await image("jpeg");
  const { status, body } = await post(world, "/uploads", rawBytes(jpeg, "image/png"));
  const message = "contentType is image/png, but the bytes are jpeg";
  expect({ status, body }).toEqual({
    status: 400,
    body: { error: { code: "VALIDATION", message } },
  });
  expect((await post(world, "/uploads", rawBytes(jpeg, "Image/JPEG"))).status).toBe(200);
  // The name of the file part is image.bin, and its type is application/octet-stream.
  const { url } = (await call<Upload>(world, "POST", "/uploads", { body: formWith(jpeg) })).body;
  expect(url).toMatch(/\.jpeg$/);
});

choice("accepted images", async (world) => {
  const upload = async (bytes: Buffer<ArrayBuffer>) => [
    (await post(world, "/uploads", rawBytes(bytes))).status,
    (await call(world, "POST", "/uploads", { body: formWith(bytes) })).status,
  ];
  expect(await upload(await imageOf(MAX_IMAGE_BYTES))).toEqual([200, 200]);
  expect(await upload(await imageOf(MAX_IMAGE_BYTES + 1))).toEqual([400, 400]);
  const sized = (width: number) => {
    const copy = Buffer.from(png);
    copy.writeUInt32BE(width, 16);
    return upload(copy);
  };
  expect(await sized(0)).toEqual([400, 400]);
  expect(await sized(65_535)).toEqual([200, 200]);
  expect(await sized(65_536)).toEqual([400, 400]);
});

choice("`thumbUrl`", async (world) => {
  const large = { width: 640, height: 480, channels: 3, background: "teal" } as const;
  const bytes = await sharp({ create: large }).png().toBuffer();
  const { key, url, thumbUrl } = await write<Upload>(world, "/uploads", rawBytes(bytes));
  const served = await world.fetch(thumbUrl);
  const { format, width, height } = await sharp(await served.arrayBuffer()).metadata();
  expect({ format, width, height }).toEqual({ format: "webp", width: 320, height: 240 });
  const { images } = await newPost(world, { imageKeys: [key] });
  expect(images).toEqual([{ url, thumbUrl, width: 640, height: 480 }]);
  // No thumbnail can be made of broken pixels.
  bytes.fill(0x55, bytes.indexOf("IDAT") + 4, bytes.indexOf("IDAT") + 24);
  const broken = await write<Upload>(world, "/uploads", rawBytes(bytes));
  expect(broken.thumbUrl).toBe(broken.url);
  const shown = await newPost(world, { imageKeys: [broken.key] });
  expect(shown.images[0]?.thumbUrl).toBeNull();
});

choice(
  "URL uploads",
  async (world) => {
    const upload = (status: number) =>
      post(world, "/uploads", { url: `https://images.example/${status}` });
    for (const status of [301, 302, 303, 307, 308]) {
      expectRefusal(await upload(status), 400, "BLOCKED_HOST");
    }
    for (const status of [201, 204, 401, 404, 500]) {
      expectRefusal(await upload(status), 400, "NOT_IMAGE");
    }
    expect((await upload(200)).status).toBe(200);
  },
  internet,
);

choice("image keys", async (world) => {
  const quotas = async () => {
    const { requestsPerMinute: _, ...daily } = await control<Record<string, unknown>>(
      world,
      "GET",
      "/limits",
    );
    return daily;
  };
  const [posts, comments, messages] = await writePaths(world);
  for (const [path, list] of [
    [posts, "/feed"],
    [comments, comments],
    [messages, messages],
  ] as const) {
    const uploads = [await newUpload(world), await newUpload(world)];
    const [one = "", two = ""] = uploads.map(({ key }) => key);
    const before = [await read(world, list), await quotas()];
    for (const imageKeys of [
      [one, one],
      [one, two, "img_"],
      [one, two, ""],
    ]) {
      const refused = await post(world, path, { text: "hi", imageKeys });
      expectRefusal(refused, 400, "INVALID_IMAGE_KEY");
    }
    expect([await read(world, list), await quotas()]).toEqual(before);
    expect((await post(world, path, { text: null, imageKeys: [two, one] })).status).toBe(201);
    const [newest] = (await read<Page<Content>>(world, list)).items;
    const urls = uploads.map(({ url }) => url);
    expect(newest?.images.map(({ url }) => url)).toEqual(urls.reverse());
  }
});
