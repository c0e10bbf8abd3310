import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { type ImageInput, sourceOf } from "../../faces/client.ts";
import { refusal } from "./refusal.ts";
import { sampleOf } from "./samples.ts";

const here = join(import.meta.dirname, "a.png");

describe("a string is", () => {
  test.each([
    "https://images.example/a.png",
    "HTTPS://x.example/",
    "https://10.0.0.1/k",
    "  https://a.example/ ",
  ])("an address: %s", (text) => expect(sourceOf(text)).toEqual({ from: "url", url: text.trim() }));

  test.each([
    "http://images.example/a.png",
    "ftp://images.example/a",
    "s3://bucket/a.png",
    "blob://x",
  ])("an address too, to be refused as one: %s", (text) =>
    expect(sourceOf(text)).toEqual({ from: "url", url: text }),
  );

  test.each([
    "/srv/cat",
    "./cat",
    "../cat",
    "~/cat.png",
    "~ada",
    "images/cat",
    "C:\\images\\cat.png",
    "C:/images/cat",
    "C:cat.png",
    "\\\\server\\share\\cat",
    ".\\cat",
    "cat.png",
    "cat.JPG",
    "cat.jpeg",
    "cat.webp",
    "cat.gif",
    "cat.avif",
    "my cat.heic",
    "cat.svg",
  ])("a path: %s", (text) => expect(sourceOf(text)).toEqual({ from: "path", path: text }));

  test("a path as a file: URL", () => {
    expect(sourceOf(pathToFileURL(here).href)).toEqual({ from: "path", path: here });
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
  ])("a key: %s", (text) => expect(sourceOf(text)).toEqual({ from: "key", key: text }));

  test("the image itself, as a data: URL, whatever type that says", () => {
    const png = sampleOf("png");
    for (const head of [
      "data:image/png;base64",
      "DATA:text/plain;charset=utf-8;BASE64",
      "data:;base64",
    ]) {
      expect(sourceOf(`${head},${png.toString("base64")}`)).toEqual({ from: "bytes", bytes: png });
    }
  });

  test.each([
    ["", "empty string"],
    [" ", "empty string"],
    ["data:image/svg+xml,%3Csvg/%3E", "has the form data:image/png;base64"],
    ["data:image/png;base64", "has the form data:image/png;base64"],
    ["data:image/png;base64,%%%%", "not base64"],
    ["iVBORw0KGgo".repeat(1_000), "Buffer.from(text"],
    ["file://other-host/a.png", "names no file here"],
    ["file:///a%2Fb", "names no file here"],
  ])("refused: %.40s", async (text, why) => {
    const error = await refusal(() => sourceOf(text));
    expect(error).toMatchObject({ code: "INVALID_OPTION", platformCode: undefined });
    expect(error.message).toContain(why);
    expect(error.message.length).toBeLessThan(300);
  });

  test("TOO_LARGE, as a data: URL of more than 5 MB, before it is decoded", async () => {
    const text = `data:image/png;base64,${"A".repeat(6_990_512)}`;
    expect((await refusal(() => sourceOf(text))).platformCode).toBe("TOO_LARGE");
  });
});

describe("an object says what it is", () => {
  const bytes = new Uint8Array([1]);
  test.each<[ImageInput, unknown]>([
    [{ key: "cat.png" }, { from: "key", key: "cat.png" }],
    [{ path: "upl_1" }, { from: "path", path: "upl_1" }],
    [{ path: pathToFileURL(here) }, { from: "path", path: here }],
    [{ url: "https://a.example/" }, { from: "url", url: "https://a.example/" }],
    [{ url: "upl_1" }, { from: "url", url: "upl_1" }],
    [{ url: new URL("https://a.example/") }, { from: "url", url: "https://a.example/" }],
    [new URL("https://a.example/"), { from: "url", url: "https://a.example/" }],
    [new URL("http://a.example/"), { from: "url", url: "http://a.example/" }],
    [pathToFileURL(here), { from: "path", path: here }],
    [
      { data: bytes, contentType: "image/png" },
      { from: "bytes", bytes },
    ],
    [bytes, { from: "bytes", bytes }],
    [bytes.buffer, { from: "bytes", bytes: bytes.buffer }],
  ])("%j", (input, source) => {
    expect(sourceOf(input)).toEqual(source);
  });

  test("the answer to an upload, which has an address too, is its key", () => {
    const upload = { key: "upl_1", url: "https://a.example/", thumbUrl: "https://a.example/t" };
    expect(sourceOf(upload)).toEqual({ from: "key", key: "upl_1" });
  });

  test("a stream is a stream, though it has a path or an address", () => {
    const file = createReadStream(here).on("error", () => undefined);
    const request = Object.assign(Readable.from([]), { url: "https://a.example/" });
    for (const stream of [file, request, new Blob([]).stream(), new Blob([])]) {
      expect(sourceOf(stream)).toEqual({ from: "bytes", bytes: stream });
    }
  });

  test.each([
    [undefined, "got undefined"],
    [null, "got null"],
    [7, "got number"],
    [{}, "with no fields"],
    [{ file: "a.png" }, "an object with file"],
    [{ data: "a.png" }, "an object with data"],
    [{ key: 7 }, "an object with key"],
    [{ key: "" }, "empty string"],
    [new Response("x"), "pass the `body`"],
  ])("%s is refused", async (input, why) => {
    const error = await refusal(() => sourceOf(input as ImageInput));
    expect(error).toMatchObject({ code: "INVALID_OPTION", platformCode: undefined });
    expect(error.message).toContain(why);
  });
});
