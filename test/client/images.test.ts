import { execFileSync } from "node:child_process";
import { createReadStream, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type CallOptions,
  Client,
  type ImageInput,
  MAX_IMAGE_BYTES,
  prepareImage,
} from "../faces/client.ts";
import { ServiceBotError } from "../faces/errors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { rejection } from "./api.ts";
import { box, pngOf, sampleOf } from "./images/samples.ts";

const png = sampleOf("png");
const prepared = { data: new Uint8Array(png), kind: "png" };
const local = { status: 400, local: true };

function file(name: string, bytes: Uint8Array | string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

async function refusal(input: unknown): Promise<ServiceBotError> {
  const error = await rejection(prepareImage(input as ImageInput));
  if (error instanceof ServiceBotError) return error;
  throw error;
}

describe("an image is taken from", () => {
  test.each<[string, () => ImageInput]>([
    ["a Uint8Array", () => new Uint8Array(png)],
    ["a Buffer", () => png],
    ["a DataView", () => new DataView(png.buffer, png.byteOffset, png.length)],
    ["an ArrayBuffer", () => new Uint8Array(png).buffer],
    ["a Blob", () => new Blob([new Uint8Array(png)], { type: "image/jpeg" })],
    ["a File", () => new File([new Uint8Array(png)], "cat.jpg", { type: "image/jpeg" })],
    ["a path", () => file("cat.jpg", png)],
    ["a path in an object", () => ({ path: file("upl_1", png) })],
    ["a path as a URL", () => pathToFileURL(file("a.png", png))],
    ["a path as the text of a URL", () => pathToFileURL(file("a.png", png)).href],
    ["a path as a URL in an object", () => ({ path: pathToFileURL(file("a.png", png)) })],
  ])("%s", async (_, make) => expect(await prepareImage(make())).toEqual(prepared));

  test("bytes that may change meanwhile: a copy of the checked ones is sent", async () => {
    const bytes = new Uint8Array(png);
    const image = await prepareImage(bytes);
    bytes.fill(0);
    expect(image).toEqual(prepared);
  });
});

test("records of a camera behind a picture are left to the platform", async () => {
  const trailer = Buffer.from("SEFH and a video", "latin1");
  const image = await prepareImage(Buffer.concat([sampleOf("jpeg"), trailer]));
  expect(image).toMatchObject({ kind: "jpeg" });
});

describe("an address", () => {
  test.each([
    ["https://images.example/a.png", "https://images.example/a.png"],
    ["  HTTPS://Images.Example/A.png?w=1#x ", "https://images.example/A.png?w=1#x"],
    ["https://bücher.example/ä.png", "https://xn--bcher-kva.example/%C3%A4.png"],
    // Which addresses may be downloaded from is up to the platform, not the client.
    ["https://10.0.0.1/a.png", "https://10.0.0.1/a.png"],
  ])("is passed on: %s", async (text, url) => {
    for (const input of [text, { url: text }, new URL(text), { url: new URL(text) }]) {
      expect(await prepareImage(input)).toEqual({ url });
    }
  });

  test.each([
    "http://images.example/a.png",
    "ftp://images.example/a.png",
    "s3://bucket/a.png",
    "blob://x",
    "https://",
    "https://a b/",
    "https://[::1",
    "https://ada:hunter22@images.example/a.png",
    "https://ada@images.example/a.png",
    "https://:hunter22@images.example/a.png?sig=hunter22",
  ])("is BLOCKED_HOST, and not repeated: %s", async (url) => {
    for (const input of [url, { url }]) {
      const error = await refusal(input);
      expect(error).toMatchObject({ code: "BLOCKED_HOST", platformCode: "BLOCKED_HOST", ...local });
      expect(error.message).not.toMatch(/hunter22|ada/);
    }
  });

  test.each(["", "upl_1", "//images.example/a.png", "file:///etc/passwd", "javascript:alert(1)"])(
    "is no other text that is called one: %j",
    async (url) => expect(await refusal({ url })).toMatchObject({ code: "BLOCKED_HOST", ...local }),
  );
});

describe("a string is", () => {
  test.each([
    "/no/cat",
    "./no-cat",
    "../no-cat",
    "~/cat.png",
    "~ada",
    "images/cat",
    "C:\\images\\cat.png",
    "C:/images/cat",
    "C:cat.png",
    "\\\\server\\share\\cat",
    "no-cat.png",
    "no-cat.JPG",
    "no cat.heic",
    "no-cat.svg",
  ])("a path: %s", async (path) => {
    const error = await refusal(path);
    expect(error).toMatchObject({ code: "INVALID_OPTION", cause: { code: "ENOENT" } });
    expect(error.message).toContain(`Cannot read the image "${path}"`);
  });

  test.each([
    "upl_1",
    "k",
    "9f86d081-884c-4d63-a15a-2c9b0ee00a00",
    "upl:7",
    "a.b.c",
    "png",
    "cat.png.key",
    "abc==",
  ])("a key: %s", async (key) => {
    for (const input of [key, { key }]) expect(await prepareImage(input)).toEqual({ key });
  });

  test.each([
    ["", "empty string"],
    [" ", "empty string"],
    ["data:image/png;base64,AAAA", "Buffer.from(text"],
    ["iVBORw0KGgo".repeat(1_000), "Buffer.from(text"],
    ["file://other-host/a.png", "is not a file URL"],
    ["file:///a%2Fb", "is not a file URL"],
  ])("refused: %.40s", async (text, reason) => {
    const error = await refusal(text);
    expect(error.code).toBe("INVALID_OPTION");
    expect(error.message).toContain(reason);
    expect(error.message.length).toBeLessThan(300);
  });
});

describe("an object", () => {
  test("with a key is that key, also the answer to an upload, which has an address too", async () => {
    const upload = { key: "cat.png", url: "https://a.example/", thumbUrl: "https://a.example/t" };
    expect(await prepareImage(upload)).toEqual({ key: "cat.png" });
  });

  test.each([
    [undefined, "got undefined"],
    [null, "got null"],
    [7, "got number"],
    [{}, "with no fields"],
    [{ file: "a.png" }, "an object with file"],
    [{ key: 7 }, "an object with key"],
    [{ key: "" }, "empty string"],
    [new Response("x"), "pass its bytes"],
    [new Blob(["x"]).stream(), "pass its bytes"],
    [Object.assign(Readable.from([]), { url: "https://a.example/" }), "pass its bytes"],
    [createReadStream(import.meta.filename), "pass its bytes"],
  ])("is refused: %s", async (input, reason) => {
    const error = await refusal(input);
    expect(error.code).toBe("INVALID_OPTION");
    expect(error.message).toContain(reason);
  });
});

describe("the size", () => {
  const largest = pngOf(MAX_IMAGE_BYTES);
  const tooLarge = pngOf(MAX_IMAGE_BYTES + 1);

  test.each<[string, (bytes: Buffer) => ImageInput]>([
    ["bytes", (bytes) => bytes],
    ["an ArrayBuffer", (bytes) => new Uint8Array(bytes).buffer],
    ["a Blob", (bytes) => new Blob([new Uint8Array(bytes)])],
    ["a file", (bytes) => file("a.png", bytes)],
  ])("of %s: 5 MB pass, and a byte more is TOO_LARGE", async (_, make) => {
    expect(largest.length).toBe(5 * 1024 * 1024);
    expect(await prepareImage(make(largest))).toMatchObject({ kind: "png" });
    expect(await refusal(make(tooLarge))).toMatchObject({ code: "TOO_LARGE", ...local });
  });

  test("of a Blob or a file that is too large keeps it from being read", async () => {
    const blob = new Blob([new Uint8Array(tooLarge)]);
    blob.arrayBuffer = () => Promise.reject(new Error("It was read."));
    expect((await refusal(blob)).code).toBe("TOO_LARGE");
    const huge = file("huge.png", "");
    truncateSync(huge, 2 ** 40);
    expect((await refusal(huge)).code).toBe("TOO_LARGE");
  });

  test("0 is VALIDATION", async () => {
    for (const input of [new Uint8Array(), new Blob([]), file("a.png", "")]) {
      expect(await refusal(input)).toMatchObject({ code: "VALIDATION", ...local });
    }
  });
});

test.each<[string, Uint8Array | string]>([
  ["text", "Dear platform, this is a text."],
  ["a PDF", "%PDF-1.7\n%"],
  ["a ZIP archive", "PK\x03\x04\x14\0"],
  ["a HEIC photo", box("ftyp", Buffer.from("heic\0\0\0\0mif1heic"))],
  ["an SVG drawing", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ["an HTML page", "<!DOCTYPE html><title>404</title>"],
  ["base64 text", png.toString("base64")],
])("bytes of another kind are VALIDATION: %s", async (_, content) => {
  const path = file("cat.png", content);
  for (const input of [Buffer.from(content), path]) {
    expect(await refusal(input)).toMatchObject({ code: "VALIDATION", ...local });
  }
  expect((await refusal(path)).message).toContain(`"${path}"`);
});

describe("a file is refused that is", () => {
  test("missing, with what else the text may be", async () => {
    expect((await refusal("uploads/7.png")).message).toContain("pass { key }");
    expect((await refusal("~/cat.png")).message).toContain("Node does not");
  });

  test("at a path that cannot be one", async () => {
    expect((await refusal({ path: "a\0b.png" })).code).toBe("INVALID_OPTION");
  });

  test("a folder", async () => {
    const path = join(temporaryFolder(), "a.png");
    mkdirSync(path);
    expect((await refusal(path)).message).toBe(`"${path}" is a folder, not a file.`);
  });

  const unix = process.platform === "win32" ? test.skip : test;

  unix("a FIFO, whose writer is not waited for, a device, or a socket", async () => {
    const [fifo, socket] = ["fifo.png", "socket.png"].map((name) => join(temporaryFolder(), name));
    execFileSync("mkfifo", [`${fifo}`]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    onTestFinished(() => void server.close());
    for (const path of [fifo, "/dev/zero"]) {
      expect((await refusal(path)).message).toBe(`"${path}" is a device, not a file.`);
    }
    const { code, message } = await refusal(socket);
    expect(code).toBe("INVALID_OPTION");
    expect(message).toContain("not a regular file");
  });

  const linux = process.platform === "linux" ? test : test.skip;

  linux("longer than its size says", async () => {
    const { code, message } = await refusal("/proc/self/maps");
    expect(code).toBe("INVALID_OPTION");
    expect(message).toContain("changed while it was being read");
  });
});

test("nothing is read once the signal is aborted", async () => {
  const reason = new Error("enough");
  for (const input of ["upl_1", "https://images.example/a.png", png, "./no-such-file.png"]) {
    await expect(prepareImage(input, AbortSignal.abort(reason))).rejects.toBe(reason);
  }
});

function uploading(timeoutMs?: number) {
  const bodies: unknown[] = [];
  const client = new Client({
    ...{ baseUrl: "http://platform.test", apiKey: "key", timeoutMs },
    fetch: async (_url, { body }) => {
      bodies.push(body);
      return Response.json({ key: "k_1", url: "u" });
    },
  });
  return { client, bodies };
}

describe("a Blob that gives nothing", () => {
  const stalled = Object.assign(new Blob([png]), {
    arrayBuffer: () => new Promise<never>(() => {}),
  });

  test.each<[string, (client: Client, options: CallOptions) => Promise<unknown>]>([
    ["an upload", (client, options) => client.upload(stalled, options)],
    ["a message", (client, options) => client.dms.send("c_1", { images: [png, stalled] }, options)],
  ])("holds %s until its signal aborts, or its deadline", async (_, write) => {
    const controller = new AbortController();
    const { client, bodies } = uploading();
    const aborted = rejection(write(client, { signal: controller.signal }));
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await aborted).toBe(reason);

    const hurried = uploading(5);
    const late = await rejection(write(hurried.client, {}));
    expect(late).toMatchObject({ code: "API_TIMEOUT", sent: false });
    expect([...bodies, ...hurried.bodies]).toEqual([]);
  });
});

describe("an upload", () => {
  test("of an address is JSON", async () => {
    const { client, bodies } = uploading();
    await client.upload("https://images.example/a.png");
    expect(bodies).toEqual([JSON.stringify({ url: "https://images.example/a.png" })]);
  });

  test.each([
    ["png", "image.png"],
    ["jpeg", "image.jpg"],
    ["webp", "image.webp"],
    ["gif", "image.gif"],
    ["avif", "image.avif"],
  ] as const)("of the bytes of %s is a form, without the name on disk", async (kind, name) => {
    const { client, bodies } = uploading();
    await client.upload(file("private.png", sampleOf(kind)));
    // Parses the body as it would be sent.
    const received = await new Response(bodies[0] as FormData).formData();
    expect([...received.keys()]).toEqual(["file"]);
    const part = received.get("file") as File;
    expect({ name: part.name, type: part.type }).toEqual({ name, type: `image/${kind}` });
    expect(Buffer.from(await part.arrayBuffer())).toEqual(sampleOf(kind));
  });

  test("of a key is refused", async () => {
    const { client, bodies } = uploading();
    expect(await rejection(client.upload("upl_1"))).toMatchObject({ code: "INVALID_OPTION" });
    expect(bodies).toEqual([]);
  });
});
