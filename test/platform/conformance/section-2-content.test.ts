import sharp from "sharp";
import { expect } from "vitest";
import { image } from "../support/images.ts";
import { read, write } from "./http.ts";
import { rule, rulesOf } from "./rule.ts";
import {
  conversationWith,
  messagesOf,
  newComment,
  newKeys,
  newPost,
  newUpload,
  rawBytes,
  sendMessage,
} from "./setup.ts";
import type { Content, Message, Page, Upload } from "./wire.ts";
import type { World } from "./world.ts";

/** Sections 2, "Upload", "Image" and "Post / feed item / comment". */

const png = await image();

async function download(world: World, url: string): Promise<Buffer> {
  const response = await world.fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^image\//);
  return Buffer.from(await response.arrayBuffer());
}

async function feedItem(world: World, id: string): Promise<Content> {
  const { items } = await read<Page<Content>>(world, "/feed");
  return onlyOne(items.filter((item) => item.id === id));
}

async function listedComment(world: World, body: unknown): Promise<Content> {
  const { id: postId } = await newPost(world);
  const { id } = await newComment(world, body, postId);
  const { items } = await read<Page<Content>>(world, `/posts/${postId}/comments`);
  return onlyOne(items.filter((item) => item.id === id));
}

function onlyOne<T>(list: readonly T[]): T {
  const [one] = list;
  if (one === undefined || list.length > 1) throw new Error(`not one: ${list.length}`);
  return one;
}

const fourFields = {
  url: expect.stringMatching(/^https?:/),
  thumbUrl: expect.toSatisfy((value) => value === null || typeof value === "string"),
  width: 9,
  height: 7,
};

rulesOf((world) => newUpload(world), {
  "2.upload.key": async ({ key }, world) => {
    expect(key).toEqual(expect.any(String));
    expect((await newPost(world, { imageKeys: [key] })).images).toHaveLength(1);
  },
  "2.upload.url": async ({ url }, world) => expect(await download(world, url)).toEqual(png),
  "2.upload.width": ({ width }) => expect(width).toBe(9),
  "2.upload.height": ({ height }) => expect(height).toBe(7),
  "2.upload.bytes": ({ bytes }) => expect(bytes).toBe(png.byteLength),
});

rule("2.upload.thumbUrl", async (world) => {
  const noise = { type: "gaussian" as const, mean: 128, sigma: 60 };
  const large = sharp({
    create: { width: 900, height: 600, channels: 3, background: "teal", noise },
  });
  const bytes = await large.jpeg().toBuffer();
  const body = rawBytes(bytes, "image/jpeg");
  const { url, thumbUrl } = await write<Upload>(world, "/uploads", body);
  const preview = await download(world, thumbUrl);
  // A server that makes no thumbnails uses the image's URL for both.
  if (thumbUrl === url) return;
  expect(preview.length).toBeLessThan(bytes.length);
  expect((await sharp(preview).metadata()).width).toBeLessThan(900);
});

/** A post with two images, as the response to its creation, by its id and in the feed. */
async function postWithImages(world: World) {
  const imageKeys = await newKeys(world, 2);
  const made = await newPost(world, { text: "grüße\n🙂 <b>", imageKeys });
  const found = await read<Content>(world, `/posts/${made.id}`);
  const [image] = found.images;
  if (image === undefined) throw new Error("the post has no image");
  return { made, found, item: await feedItem(world, made.id), image };
}

rulesOf(postWithImages, {
  "2.image.url": async ({ image }, world) => expect(await download(world, image.url)).toEqual(png),
  "2.image.thumbUrl": async ({ image: { thumbUrl, url } }, world) =>
    expect((await download(world, thumbUrl ?? url)).length).toBeGreaterThan(0),
  "2.image.width": ({ image }) => expect(image.width).toBe(9),
  "2.image.height": ({ image }) => expect(image.height).toBe(7),
  "2.image.feed": ({ item }) => expect(item.images).toEqual([fourFields, fourFields]),
  "2.post.id": ({ made, found }) => {
    expect(made.id).toEqual(expect.any(String));
    expect(found.id).toBe(made.id);
  },
  "2.post.type": ({ found }) => expect(found.type).toBe("post"),
  "2.post.text": ({ found }) => expect(found.text).toBe("grüße\n🙂 <b>"),
  "2.post.images": ({ found }) => expect(found.images).toEqual([fourFields, fourFields]),
  "2.feed.item": ({ made, item }) => {
    expect(item).toMatchObject({ id: made.id, type: "post", text: "grüße\n🙂 <b>" });
    expect(item.images).toHaveLength(2);
  },
});

rulesOf((world) => newPost(world), {
  "2.post.images.none": async ({ id }, world) =>
    expect((await read<Content>(world, `/posts/${id}`)).images).toEqual([]),
  "2.feed.item.none": async ({ id }, world) =>
    expect((await feedItem(world, id)).images).toEqual([]),
});

async function commentWithImages(world: World): Promise<Content> {
  return await listedComment(world, { text: "grüße 🙂", imageKeys: await newKeys(world, 2) });
}

rulesOf(commentWithImages, {
  "2.image.comment": ({ images }) => expect(images).toEqual([fourFields, fourFields]),
  "2.comment.type": ({ type }) => expect(type).toMatch(/\w/),
  "2.comment.text": ({ text }) => expect(text).toBe("grüße 🙂"),
  "2.comment.images": ({ images }) => expect(images).toHaveLength(2),
});

rule("2.comment.images.none", async (world) => {
  expect((await listedComment(world, { text: "a comment" })).images).toEqual([]);
});

rule("2.comment.id", async (world) => {
  const { id: postId } = await newPost(world);
  const one = await newComment(world, { text: "a comment" }, postId);
  const other = await newComment(world, { text: "a comment" }, postId);
  expect([one.id, other.id]).toEqual([expect.any(String), expect.any(String)]);
  expect(one.id).not.toBe(other.id);
});

rule("2.image.message", async (world) => {
  const conversation = await conversationWith(world);
  await sendMessage(world, conversation, { imageKeys: await newKeys(world, 1) });
  const { items } = await read<Page<Message>>(world, messagesOf(conversation));
  expect(items[0]?.images).toEqual([{ url: fourFields.url, width: 9, height: 7 }]);
});
