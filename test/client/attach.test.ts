import { describe, expect, test } from "vitest";
import { Client, type OutgoingMessage } from "../faces/client.ts";
import { image } from "../platform/support/images.ts";
import { rejection } from "./api.ts";

interface Request {
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal | null | undefined;
  readonly answer: (response: Response) => void;
}

/** Creates a client whose requests stay pending until the test responds. */
function gated() {
  const open: Request[] = [];
  const all: string[] = [];
  let arrived = Promise.withResolvers<void>();
  const client = new Client({
    baseUrl: "http://platform.test",
    apiKey: "key",
    retries: 0,
    fetch: (url, { body, signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      const path = new URL(url).pathname.replace("/api/v1", "");
      all.push(path);
      const sent: unknown = typeof body === "string" ? JSON.parse(body) : body;
      open.push({ path, body: sent, signal, answer: resolve });
      arrived.resolve();
      return promise;
    },
  });
  const underWay = async (count: number): Promise<readonly Request[]> => {
    while (open.length < count) {
      await arrived.promise;
      arrived = Promise.withResolvers();
    }
    return open.splice(0, count);
  };
  return { client, all, underWay };
}

const uploaded = (key: string) =>
  Response.json({ key, url: "u", thumbUrl: "t", width: 1, height: 1, bytes: 1 });
const made = () => Response.json({ id: "p_9" }, { status: 201 });
const refused = (code: string, status = 400) => Response.json({ error: { code } }, { status });
const address = (name: string) => ({ url: `https://example.com/${name}.png` });

describe("images of a message", () => {
  test("are uploaded side by side, and attached in their order, whichever is done first", async () => {
    const { client, underWay } = gated();
    const images = ["a", "b", "c", "d"].map(address);
    const posting = client.posts.create({ text: "hi", images });
    const uploads = await underWay(4);
    for (const { path, body, answer } of uploads.toReversed()) {
      expect(path).toBe("/uploads");
      const { url } = body as { url: string };
      answer(uploaded(`key of ${url.at(-5)}`));
    }
    const [post] = await underWay(1);
    expect(post?.path).toBe("/posts");
    const imageKeys = ["a", "b", "c", "d"].map((name) => `key of ${name}`);
    expect(post?.body).toEqual({ text: "hi", imageKeys });
    post?.answer(made());
    expect(await posting).toEqual({ id: "p_9" });
  });

  test("come behind the ready keys; keys are not uploaded, also among the images", async () => {
    const { client, all, underWay } = gated();
    const images = [{ key: "k_2" }, address("a"), "k_4"];
    const sending = client.dms.send("c_1", { images, imageKeys: ["k_1"] });
    const [upload] = await underWay(1);
    upload?.answer(uploaded("k_3"));
    const [message] = await underWay(1);
    expect(message?.body).toEqual({ imageKeys: ["k_1", "k_2", "k_3", "k_4"] });
    const createdAt = "2026-01-01T00:00:00.000Z";
    message?.answer(Response.json({ id: "m_1", conversationId: "c_1", createdAt }));
    await sending;
    expect(all).toHaveLength(2);
  });

  test("of which one fails are given up together, and nothing is posted", async () => {
    const { client, all, underWay } = gated();
    const posting = rejection(client.posts.comment("p_1", { images: ["a", "b"].map(address) }));
    const [first, second] = await underWay(2);
    second?.answer(refused("NOT_IMAGE"));
    expect(await posting).toMatchObject({ code: "NOT_IMAGE" });
    expect(first?.signal?.aborted).toBe(true);
    expect(all).toEqual(["/uploads", "/uploads"]);
  });

  test("are given up with the call", async () => {
    const { client, underWay } = gated();
    const controller = new AbortController();
    const reason = new Error("enough");
    const options = { signal: controller.signal };
    const posting = rejection(client.posts.create({ images: [address("a")] }, options));
    const [upload] = await underWay(1);
    controller.abort(reason);
    expect(await posting).toBe(reason);
    expect(upload?.signal?.aborted).toBe(true);
  });
});

describe("an image whose key has expired or was consumed", () => {
  test("is uploaded once more", async () => {
    const { client, all, underWay } = gated();
    const posting = client.posts.create({ text: "hi", images: [await image()] });
    for (const key of ["k_1", "k_2"]) {
      const [upload] = await underWay(1);
      upload?.answer(uploaded(key));
      const [post] = await underWay(1);
      expect(post?.body).toEqual({ text: "hi", imageKeys: [key] });
      post?.answer(key === "k_1" ? refused("INVALID_IMAGE_KEY") : made());
    }
    await posting;
    expect(all).toEqual(["/uploads", "/posts", "/uploads", "/posts"]);
  });

  test("and no more than once", async () => {
    const { client, all, underWay } = gated();
    const posting = rejection(client.posts.create({ images: [address("a")] }));
    for (const key of ["k_1", "k_2"]) {
      const [upload] = await underWay(1);
      upload?.answer(uploaded(key));
      const [post] = await underWay(1);
      post?.answer(refused("INVALID_IMAGE_KEY"));
    }
    expect(await posting).toMatchObject({ code: "INVALID_IMAGE_KEY", local: false });
    expect(all).toHaveLength(4);
  });

  test("cannot be uploaded where there is nothing but the key", async () => {
    const { client, all, underWay } = gated();
    const posting = rejection(client.posts.create({ images: ["k_1"], imageKeys: ["k_2"] }));
    const [post] = await underWay(1);
    post?.answer(refused("INVALID_IMAGE_KEY"));
    expect(await posting).toMatchObject({ code: "INVALID_IMAGE_KEY" });
    expect(all).toEqual(["/posts"]);
  });

  test("is not uploaded again beside a ready key, which would be the one", async () => {
    const { client, all, underWay } = gated();
    const posting = rejection(client.posts.create({ images: [address("a")], imageKeys: ["dead"] }));
    (await underWay(1))[0]?.answer(uploaded("k_1"));
    (await underWay(1))[0]?.answer(refused("INVALID_IMAGE_KEY"));
    expect(await posting).toMatchObject({ code: "INVALID_IMAGE_KEY" });
    expect(all).toEqual(["/uploads", "/posts"]);
  });

  test("is not looked for where there are no images at all", async () => {
    const { client, all, underWay } = gated();
    const posting = rejection(client.posts.create({ text: "hi" }));
    (await underWay(1))[0]?.answer(refused("INVALID_IMAGE_KEY"));
    expect(await posting).toMatchObject({ code: "INVALID_IMAGE_KEY" });
    expect(all).toEqual(["/posts"]);
  });

  test("another refusal uploads nothing again", async () => {
    const { client, all, underWay } = gated();
    const posting = rejection(client.posts.create({ images: [address("a")] }));
    (await underWay(1))[0]?.answer(uploaded("k_1"));
    (await underWay(1))[0]?.answer(refused("TOO_LONG"));
    expect(await posting).toMatchObject({ code: "TOO_LONG" });
    expect(all).toHaveLength(2);
  });
});

describe("before a byte is sent", async () => {
  const png = await image();
  const five = Array.from({ length: 5 }, () => png);

  const answering = () => {
    const sent: string[] = [];
    const fetch = async (url: string) => {
      sent.push(url);
      return uploaded("k");
    };
    return { client: new Client({ baseUrl: "http://platform.test", apiKey: "key", fetch }), sent };
  };

  test.each<[code: string, what: string, message: OutgoingMessage]>([
    ["EMPTY", "nothing", {}],
    ["EMPTY", "an empty text", { text: "", images: [], imageKeys: [] }],
    ["TOO_MANY_IMAGES", "five images", { images: five }],
    ["TOO_MANY_IMAGES", "five keys", { imageKeys: ["1", "2", "3", "4", "5"] }],
    ["TOO_MANY_IMAGES", "five of both", { images: five.slice(2), imageKeys: ["1", "2"] }],
    ["TOO_LARGE", "5 MB and a byte", { images: [Buffer.concat([png], 5 * 1024 * 1024 + 1)] }],
    ["VALIDATION", "a text file", { images: [png, Buffer.from("hello")] }],
    ["BLOCKED_HOST", "http", { images: [png, "http://example.com/a.png"] }],
    ["INVALID_OPTION", "a file that is not there", { images: [png, "./no-such-file.png"] }],
  ])("%s: %s", async (code, _what, message) => {
    const { client, sent } = answering();
    for (const write of [
      () => client.posts.create(message),
      () => client.posts.comment("p_1", message),
      () => client.dms.send("c_1", message),
    ]) {
      const error = await rejection(write());
      expect(error).toMatchObject(
        code === "INVALID_OPTION" ? { code } : { code, status: 400, local: true, retryable: false },
      );
    }
    expect(sent).toEqual([]);
  });

  test("INVALID_ID: an id that cannot be part of a path", async () => {
    const id = "..";
    const { client, sent } = answering();
    for (const write of [
      () => client.posts.comment(id, { images: [png, address("a")] }),
      () => client.dms.send(id, { images: [png, address("a")] }),
    ]) {
      expect(await rejection(write())).toMatchObject({ code: "INVALID_ID" });
    }
    expect(sent).toEqual([]);
  });
});
