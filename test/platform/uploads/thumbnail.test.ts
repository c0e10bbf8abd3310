import sharp from "sharp";
import { expect, onTestFinished, test } from "vitest";
import { samples } from "../../client/images/samples.ts";
import {
  inspect,
  loadSharp,
  type MakeThumbnail,
  type OpenImage,
  startPlatform,
  thumbnailsWith,
} from "../../faces/platform.ts";
import { newUpload } from "../conformance/setup.ts";
import { image } from "../support/images.ts";
import { request, worldOf } from "../support/platform.ts";

function plain(width: number, height: number, background = "teal") {
  return sharp({ create: { width, height, channels: 3, background } });
}

async function thumbnailOf(bytes: Buffer, make: MakeThumbnail = thumbnailsWith()) {
  const facts = inspect(bytes);
  if (typeof facts === "string") throw new Error(facts);
  return make(bytes, facts);
}

async function factsOf(thumbnail: Uint8Array | undefined) {
  const { format, width, height, pages, orientation, exif } = await sharp(thumbnail).metadata();
  return { format, width, height, pages, orientation, exif };
}

const shown = { pages: undefined, orientation: undefined, exif: undefined };

test.each([
  [1_000, 500, 320, 160],
  [500, 1_000, 160, 320],
  [320, 320, 320, 320],
  [9, 7, 9, 7],
  [4_000, 1, 320, 1],
])("an image of %i × %i pixels gets a WebP of %i × %i", async (width, height, ...size) => {
  const thumbnail = await thumbnailOf(await plain(width, height).png().toBuffer());
  expect(await factsOf(thumbnail)).toEqual({
    ...shown,
    format: "webp",
    width: size[0],
    height: size[1],
  });
});

test.each(samples)("a $name gets a thumbnail", async ({ bytes }) => {
  const thumbnail = await thumbnailOf(bytes);
  expect(await factsOf(thumbnail)).toEqual({ ...shown, format: "webp", width: 40, height: 30 });
});

test("a rotated photo is turned upright, and loses its camera metadata", async () => {
  const exif = { IFD0: { Model: "Camera" } };
  const lying = await plain(640, 480)
    .withExif(exif)
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  expect((await sharp(lying).metadata()).orientation).toBe(6);
  const thumbnail = await thumbnailOf(lying);
  expect(await factsOf(thumbnail)).toEqual({ ...shown, format: "webp", width: 240, height: 320 });
});

test.each(["gif", "webp"] as const)(
  "the thumbnail of an animated %s is the first frame",
  async (kind) => {
    const pages = ["red", "lime", "blue"].map((colour) => plain(40, 30, colour).png().toBuffer());
    const moving = await sharp(await Promise.all(pages), { join: { animated: true } })
      .toFormat(kind)
      .toBuffer();
    expect((await sharp(moving, { pages: -1 }).metadata()).pages).toBe(3);
    const thumbnail = await thumbnailOf(moving);
    expect((await factsOf(thumbnail)).pages).toBeUndefined();
    const { dominant } = await sharp(thumbnail).stats();
    expect(dominant.r).toBeGreaterThan(200);
    expect(dominant.g).toBeLessThan(60);
  },
);

function counting(): { open: OpenImage; opened: number } {
  const counter = {
    opened: 0,
    open: (...given: Parameters<OpenImage>) => {
      counter.opened += 1;
      return sharp(...given);
    },
  };
  return counter;
}

test("a few kilobytes that claim to be a gigapixel are not decoded", async () => {
  const bomb = await sharp(Buffer.alloc(100 * 100), {
    raw: { width: 100, height: 100, channels: 1 },
  })
    .png()
    .toBuffer();
  bomb.writeUInt32BE(32_000, 16);
  bomb.writeUInt32BE(32_000, 20);
  const counter = counting();
  expect(
    await thumbnailOf(
      bomb,
      thumbnailsWith(async () => counter.open),
    ),
  ).toBeUndefined();
  expect(counter.opened).toBe(0);
  await thumbnailOf(
    await image(),
    thumbnailsWith(async () => counter.open),
  );
  expect(counter.opened).toBe(1);
});

test("the decoder does not rely on the parsed headers", async () => {
  const bomb = await plain(5_001, 5_000).png().toBuffer();
  const make = thumbnailsWith();
  expect(await make(bomb, { kind: "png", width: 9, height: 7 })).toBeUndefined();
});

async function damaged(): Promise<Buffer> {
  const bytes = await plain(100, 100).png().toBuffer();
  const pixels = bytes.indexOf("IDAT") + 4;
  return bytes.fill(0x55, pixels, pixels + 20);
}

test("without sharp an image has no thumbnail", async () => {
  const make = thumbnailsWith(async () => undefined);
  expect(await thumbnailOf(await image(), make)).toBeUndefined();
});

test("sharp is loaded only once, for the first image", async () => {
  let loads = 0;
  const make = thumbnailsWith(() => {
    loads += 1;
    return loadSharp();
  });
  expect(loads).toBe(0);
  const png = await image();
  const made = await Promise.all([thumbnailOf(png, make), thumbnailOf(png, make)]);
  expect(made.map((one) => one?.byteLength)).not.toContain(undefined);
  expect(loads).toBe(1);
});

test("one image is decoded at a time, and a failure delays no other", async () => {
  let running = 0;
  let most = 0;
  const open: OpenImage = (...given) => {
    running += 1;
    most = Math.max(most, running);
    const opened = sharp(...given);
    opened.on("error", () => {});
    const finish = opened.toBuffer.bind(opened);
    const toBuffer = () => finish().finally(() => (running -= 1));
    return Object.assign(opened, { toBuffer });
  };
  const make = thumbnailsWith(async () => open);
  const big = await plain(2_000, 2_000).png().toBuffer();
  const images = [big, await damaged(), big, big];
  const made = await Promise.all(images.map((bytes) => thumbnailOf(bytes, make)));
  expect(made.map((one) => one !== undefined)).toEqual([true, false, true, true]);
  expect(most).toBe(1);
});

test("a client that disconnects while its thumbnail is being made leaves no upload", async () => {
  const begun = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<undefined>();
  const makeThumbnail = () => {
    begun.resolve();
    return proceed.promise;
  };
  const platform = await startPlatform({}, { makeThumbnail });
  onTestFinished(() => platform.stop());
  const client = new AbortController();
  const body = { dataBase64: (await image()).toString("base64"), contentType: "image/png" };
  const { signal } = client;
  const sent = request(platform, "POST", "/api/v1/uploads", { body, signal });
  const refused = expect(sent).rejects.toThrow();
  await begun.promise;
  client.abort();
  await refused;
  // By the time this response arrives, the platform has noticed the disconnect.
  await request(platform, "GET", "/api/v1/me");
  proceed.resolve(undefined);
  await platform.waitFor("api", ({ path, status }) => path === "/uploads" && status === null);
  expect(platform.control.limits.uploadsPerDay.used).toBe(0);
  expect((await newUpload(worldOf(platform))).width).toBe(9);
  expect(platform.control.limits.uploadsPerDay.used).toBe(1);
});
