import sharp from "sharp";
import { describe, expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { type Image, newKeys, newUpload, type Upload } from "../support/images.ts";
import { act, request, runPlatform } from "../support/platform.ts";

interface Content {
  readonly id: string;
  readonly text: string;
  readonly images: readonly Image[];
}

/** A way to create content, and to read the newest content of that kind. */
interface Way {
  readonly name: string;
  readonly path: string;
  readonly read: string;
}

const ways: readonly Way[] = [
  { name: "a post", path: "/posts", read: "/feed" },
  { name: "a comment", path: "/posts/p_1/comments", read: "/posts/p_1/comments" },
  {
    name: "a message",
    path: "/dm/conversations/c_2/messages",
    read: "/dm/conversations/c_2/messages",
  },
];

/** Starts a platform on which ada has written to the bot, in c_2. */
async function run(): Promise<Platform> {
  const platform = await runPlatform();
  act(platform, "dm.message");
  return platform;
}

function write(platform: Platform, { path }: Way, body: unknown) {
  return request(platform, "POST", `/api/v1${path}`, { body });
}

async function read(platform: Platform, way: Way): Promise<readonly Content[]> {
  const { body } = await request<{ items: Content[] }>(platform, "GET", `/api/v1${way.read}`);
  return body.items;
}

const shown = ({ url, thumbUrl, width, height }: Upload, way: Way) =>
  way.name === "a message" ? { url, width, height } : { url, thumbUrl, width, height };

describe.each(ways)("$name", (way) => {
  test("shows its images in the order of the keys", async () => {
    const platform = await run();
    const uploads = [await newUpload(platform), await newUpload(platform)].reverse();
    const body = { text: "look", imageKeys: uploads.map(({ key }) => key) };
    expect((await write(platform, way, body)).status).toBe(201);
    const [newest] = await read(platform, way);
    expect(newest?.text).toBe("look");
    expect(newest?.images).toEqual(uploads.map((upload) => shown(upload, way)));
  });

  test.each([{}, { text: "" }, { text: null }])("can have only images: %j", async (text) => {
    const platform = await run();
    const imageKeys = await newKeys(platform, 1);
    expect((await write(platform, way, { ...text, imageKeys })).status).toBe(201);
    const [newest] = await read(platform, way);
    expect(newest).toMatchObject({ text: "", images: [{ width: 9 }] });
  });

  test("takes four images", async () => {
    const platform = await run();
    const imageKeys = await newKeys(platform, 4);
    expect((await write(platform, way, { imageKeys })).status).toBe(201);
    expect((await read(platform, way))[0]?.images).toHaveLength(4);
  });

  test("rejects five, and consumes none of the keys", async () => {
    const platform = await run();
    const before = await read(platform, way);
    const imageKeys = await newKeys(platform, 5);
    const answer = await write(platform, way, { text: "hi", imageKeys });
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("TOO_MANY_IMAGES");
    expect(await read(platform, way)).toEqual(before);
    expect((await write(platform, way, { imageKeys: imageKeys.slice(0, 4) })).status).toBe(201);
  });

  test("rejects the same key twice", async () => {
    const platform = await run();
    const [key] = await newKeys(platform, 1);
    const twice = await write(platform, way, { imageKeys: [key, key] });
    expect(twice.body.error.code).toBe("INVALID_IMAGE_KEY");
    expect((await write(platform, way, { imageKeys: [key] })).status).toBe(201);
  });

  test.each([["nothing"], [""], ["img_"]])("with the key %j is not created", async (wrong) => {
    const platform = await run();
    const before = await read(platform, way);
    const keys = await newKeys(platform, 2);
    const answer = await write(platform, way, { text: "hi", imageKeys: [...keys, wrong] });
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("INVALID_IMAGE_KEY");
    expect(await read(platform, way)).toEqual(before);
    // The rejected request had no effect: its keys are not consumed, and no quota is charged.
    const { postsPerDay, commentsPerDay, dmsPerDay } = platform.control.limits;
    expect([postsPerDay, commentsPerDay, dmsPerDay].map(({ used }) => used)).toEqual([0, 0, 0]);
    expect((await write(platform, way, { imageKeys: keys })).status).toBe(201);
  });

  test("rejects another app's key, which stays valid for that app", async () => {
    const platform = await run();
    const token = platform.control.createToken(["posts:write"], "other").apiKey;
    const { key } = await newUpload(platform, token);
    const foreign = await write(platform, way, { text: "hi", imageKeys: [key] });
    expect(foreign.status).toBe(400);
    expect(foreign.body.error.code).toBe("INVALID_IMAGE_KEY");
    const body = { imageKeys: [key] };
    const own = await request(platform, "POST", "/api/v1/posts", { token, body });
    expect(own.status).toBe(201);
  });

  test("accepts a key that another token of the same app uploaded", async () => {
    const platform = await run();
    const { key } = await newUpload(platform, platform.control.createToken(["dm"]).apiKey);
    expect((await write(platform, way, { imageKeys: [key] })).status).toBe(201);
  });
});

async function sizeAt(url: string | null | undefined) {
  const served = await fetch(url ?? "");
  const { format, width, height } = await sharp(await served.arrayBuffer()).metadata();
  return [format, width, height];
}

describe("users", () => {
  test("send images, with an empty excerpt if there is no text", async () => {
    const platform = await run();
    const [event] = act(platform, "dm.message", { text: "", images: 2 }).events;
    expect(event?.payload).toMatchObject({ conversationId: "c_2", excerpt: "" });
    const path = "/api/v1/dm/conversations/c_2/messages";
    const { body } = await request<{ items: Content[] }>(platform, "GET", path);
    const image = { url: expect.stringMatching(/\.png$/), width: 640, height: 480 };
    expect(body.items[0]).toMatchObject({ text: "" });
    // Messages have no `thumbUrl` (section 2 of the platform document).
    expect(body.items[0]?.images).toEqual([image, image]);
    const served = await fetch(body.items[0]?.images[1]?.url ?? "");
    expect(served.status).toBe(200);
    expect(served.headers.get("content-type")).toBe("image/png");
  });

  test.each(["mention", "comment", "reply", "quote"] as const)(
    "put images in a %s",
    async (type) => {
      const platform = await run();
      const { events } = act(platform, type, { text: "", images: 1 });
      const { excerpt }: Readonly<Record<string, unknown>> = { ...events[0]?.payload };
      expect(excerpt).toBe(type === "mention" ? "@bot" : undefined);
      const newest = await read(
        platform,
        ways[type === "mention" || type === "quote" ? 0 : 1] as Way,
      );
      const [shown, ...others] = newest[0]?.images ?? [];
      expect(others).toEqual([]);
      const sizes = [shown?.url, shown?.thumbUrl].map((url) => sizeAt(url));
      expect(await Promise.all(sizes)).toEqual([
        ["png", 640, 480],
        ["webp", 320, 240],
      ]);
    },
  );

  test.each([
    [{ type: "follow", images: 1 }, "images does not apply to follow"],
    [{ type: "comment", images: 5 }, "images must be a whole number from 0 to 4"],
    [{ type: "comment", images: 0.5 }, "images must be a whole number from 0 to 4"],
  ] as const)("cannot do %j", async ({ type, ...more }, message) => {
    const platform = await run();
    expect(() => act(platform, type, more)).toThrow(message);
  });

  test("quote and like content that has only images", async () => {
    const platform = await run();
    await write(platform, ways[0] as Way, { imageKeys: await newKeys(platform, 1) });
    expect(act(platform, "quote", { text: "nice" }).postId).toBe("p_2");
    expect(act(platform, "like").postId).toBe("p_2");
  });
});

test("a conversation whose last message is an image shows no text", async () => {
  const platform = await run();
  const path = "/api/v1/dm/conversations";
  await request(platform, "POST", `${path}/c_2/messages`, {
    body: { imageKeys: await newKeys(platform, 1) },
  });
  const { body } = await request<{ items: unknown[] }>(platform, "GET", path);
  expect(body.items[0]).toMatchObject({ lastMessage: { text: "", fromBot: true } });
});
