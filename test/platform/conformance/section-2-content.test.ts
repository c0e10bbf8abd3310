import sharp from "sharp";
import { expect } from "vitest";
import { image } from "../support/images.ts";
import { read, write } from "./http.ts";
import { rule } from "./rule.ts";
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
import type { Content, Image, Message, Page, Upload } from "./wire.ts";
import type { World } from "./world.ts";

/** Sections 2, "Upload", "Image" and "Post / feed item / comment". */

async function download(world: World, url: string): Promise<Buffer> {
  const response = await world.fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^image\//);
  return Buffer.from(await response.arrayBuffer());
}

async function postWithImage(world: World): Promise<Image> {
  const { id } = await newPost(world, { imageKeys: await newKeys(world, 1) });
  const { images } = await read<Content>(world, `/posts/${id}`);
  return onlyOne(images);
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

rule("2.upload.key", async (world) => {
  const { key } = await newUpload(world);
  expect(key).toEqual(expect.any(String));
  expect((await newPost(world, { imageKeys: [key] })).images).toHaveLength(1);
});

rule("2.upload.url", async (world) => {
  const { url } = await newUpload(world);
  expect(await download(world, url)).toEqual(await image());
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

rule("2.upload.width", async (world) => {
  expect((await newUpload(world)).width).toBe(9);
});

rule("2.upload.height", async (world) => {
  expect((await newUpload(world)).height).toBe(7);
});

rule("2.upload.bytes", async (world) => {
  expect((await newUpload(world)).bytes).toBe((await image()).byteLength);
});

rule("2.image.url", async (world) => {
  const { url } = await postWithImage(world);
  expect(await download(world, url)).toEqual(await image());
});

rule("2.image.thumbUrl", async (world) => {
  const { thumbUrl, url } = await postWithImage(world);
  expect((await download(world, thumbUrl ?? url)).length).toBeGreaterThan(0);
});

rule("2.image.width", async (world) => {
  expect((await postWithImage(world)).width).toBe(9);
});

rule("2.image.height", async (world) => {
  expect((await postWithImage(world)).height).toBe(7);
});

rule("2.image.feed", async (world) => {
  const { id } = await newPost(world, { imageKeys: await newKeys(world, 1) });
  expect((await feedItem(world, id)).images).toEqual([fourFields]);
});

rule("2.image.comment", async (world) => {
  const { images } = await listedComment(world, { imageKeys: await newKeys(world, 1) });
  expect(images).toEqual([fourFields]);
});

rule("2.image.message", async (world) => {
  const conversation = await conversationWith(world);
  await sendMessage(world, conversation, { imageKeys: await newKeys(world, 1) });
  const { items } = await read<Page<Message>>(world, messagesOf(conversation));
  expect(items[0]?.images).toEqual([{ url: fourFields.url, width: 9, height: 7 }]);
});

rule("2.post.id", async (world) => {
  const { id } = await newPost(world);
  expect(id).toEqual(expect.any(String));
  expect((await read<Content>(world, `/posts/${id}`)).id).toBe(id);
});

rule("2.post.type", async (world) => {
  const { id } = await newPost(world);
  expect((await read<Content>(world, `/posts/${id}`)).type).toBe("post");
});

rule("2.post.text", async (world) => {
  const { id } = await newPost(world, { text: "grüße\n🙂 <b>" });
  expect((await read<Content>(world, `/posts/${id}`)).text).toBe("grüße\n🙂 <b>");
});

rule("2.post.images", async (world) => {
  const { id } = await newPost(world, { imageKeys: await newKeys(world, 2) });
  const { images } = await read<Content>(world, `/posts/${id}`);
  expect(images).toEqual([fourFields, fourFields]);
});

rule("2.post.images.none", async (world) => {
  const { id } = await newPost(world);
  expect((await read<Content>(world, `/posts/${id}`)).images).toEqual([]);
});

rule("2.feed.item", async (world) => {
  const { id } = await newPost(world, { text: "a post", imageKeys: await newKeys(world, 1) });
  const { type, text, images } = await feedItem(world, id);
  expect({ type, text }).toEqual({ type: "post", text: "a post" });
  expect(images).toHaveLength(1);
});

rule("2.feed.item.none", async (world) => {
  const { id } = await newPost(world);
  expect((await feedItem(world, id)).images).toEqual([]);
});

rule("2.comment.id", async (world) => {
  const { id: postId } = await newPost(world);
  const one = await newComment(world, { text: "a comment" }, postId);
  const other = await newComment(world, { text: "a comment" }, postId);
  expect([one.id, other.id]).toEqual([expect.any(String), expect.any(String)]);
  expect(one.id).not.toBe(other.id);
});

rule("2.comment.type", async (world) => {
  expect((await listedComment(world, { text: "a comment" })).type).toMatch(/\w/);
});

rule("2.comment.text", async (world) => {
  expect((await listedComment(world, { text: "grüße 🙂" })).text).toBe("grüße 🙂");
});

rule("2.comment.images", async (world) => {
  const { images } = await listedComment(world, { imageKeys: await newKeys(world, 2) });
  expect(images).toHaveLength(2);
});

rule("2.comment.images.none", async (world) => {
  expect((await listedComment(world, { text: "a comment" })).images).toEqual([]);
});
