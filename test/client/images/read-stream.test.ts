import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type ImageBytes, MAX_IMAGE_BYTES, prepareImage } from "../../faces/client.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { refusal } from "./refusal.ts";
import { pngOf, sampleOf } from "./samples.ts";

const PIECE = 65_536;
const png = sampleOf("png");

/** An endless source that counts what it has given, and tells when it was stopped. */
class Source {
  given = 0;
  readonly #stopped = Promise.withResolvers<unknown>();

  get stopped(): Promise<unknown> {
    return this.#stopped.promise;
  }

  web(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull: (controller) => controller.enqueue(this.#piece()),
      cancel: (reason) => this.#stopped.resolve(reason),
    });
  }

  node(): Readable {
    const read = (): void => void stream.push(this.#piece());
    const stream = new Readable({ read, destroy: (error, done) => this.#destroyed(error, done) });
    return stream;
  }

  async *generator(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield this.#piece();
    } finally {
      this.#stopped.resolve(undefined);
    }
  }

  #piece(): Uint8Array {
    const piece = Buffer.alloc(PIECE);
    if (this.given === 0) png.copy(piece);
    this.given += PIECE;
    return piece;
  }

  #destroyed(error: Error | null, done: (error: Error | null) => void): void {
    this.#stopped.resolve(error);
    done(error);
  }
}

/** As many pieces as it takes. */
async function* inPieces(bytes: Buffer, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("an image is taken from", () => {
  test.each<[string, () => ImageBytes]>([
    ["a Uint8Array", () => new Uint8Array(png)],
    ["a Buffer", () => png],
    ["a DataView", () => new DataView(png.buffer, png.byteOffset, png.length)],
    ["an ArrayBuffer", () => new Uint8Array(png).buffer],
    ["a Blob", () => new Blob([png], { type: "image/jpeg" })],
    ["a File", () => new File([png], "cat.jpg", { type: "image/jpeg" })],
    ["a web stream", () => new Blob([png]).stream()],
    ["a Node stream", () => Readable.from(inPieces(png))],
    ["a generator", () => inPieces(png, 7)],
  ])("%s", async (_, make) => {
    expect(await prepareImage(make())).toEqual({ data: new Uint8Array(png), kind: "png" });
    const wrapped = { data: make(), contentType: "image/gif" };
    expect(await prepareImage(wrapped)).toMatchObject({ kind: "png" });
  });

  test("a stream of a file", async () => {
    const path = join(temporaryFolder(), "cat.gif");
    writeFileSync(path, png);
    expect(await prepareImage(createReadStream(path))).toMatchObject({ kind: "png" });
  });

  test("a stream that fills one buffer again and again", async () => {
    const buffer = Buffer.alloc(100);
    async function* again(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < png.length; at += 100) {
        yield buffer.subarray(0, png.copy(buffer, 0, at, at + 100));
      }
    }
    expect(await prepareImage(again())).toMatchObject({ kind: "png" });
  });
});

test("what was checked is sent, though the caller changes the bytes", async () => {
  const bytes = Buffer.from(png);
  const image = await prepareImage(bytes);
  bytes.fill(0);
  expect(image).toMatchObject({ data: new Uint8Array(png) });
});

describe("5 MB and one byte are TOO_LARGE", () => {
  const large = pngOf(MAX_IMAGE_BYTES + 1);
  const whole = pngOf(MAX_IMAGE_BYTES);
  test.each<[string, (bytes: Buffer) => ImageBytes]>([
    ["as bytes", (bytes) => bytes],
    ["as an ArrayBuffer", (bytes) => new Uint8Array(bytes).buffer],
    ["as a Blob", (bytes) => new Blob([bytes as Buffer<ArrayBuffer>])],
    ["as a stream", (bytes) => Readable.from(inPieces(bytes, 100_000))],
  ])("%s, and 5 MB pass", async (_, make) => {
    expect(await prepareImage(make(whole))).toMatchObject({ kind: "png" });
    expect((await refusal(() => prepareImage(make(large)))).platformCode).toBe("TOO_LARGE");
  });

  test("a Blob that says so is not read", async () => {
    const blob = new Blob([pngOf(MAX_IMAGE_BYTES + 1)]);
    blob.arrayBuffer = () => Promise.reject(new Error("It was read."));
    expect((await refusal(() => prepareImage(blob))).platformCode).toBe("TOO_LARGE");
  });

  test.each(["web", "node", "generator"] as const)(
    "an endless %s stream is stopped",
    async (form) => {
      const source = new Source();
      const error = await refusal(() => prepareImage(source[form]()));
      expect(error.platformCode).toBe("TOO_LARGE");
      await source.stopped;
      // Streams read a little ahead.
      expect(source.given).toBeLessThanOrEqual(MAX_IMAGE_BYTES + 4 * PIECE);
    },
  );
});

describe("a stream is read once", () => {
  test.each<[string, () => ImageBytes]>([
    ["web", () => new Blob([png]).stream()],
    ["Node", () => Readable.from(inPieces(png))],
    ["generator", () => inPieces(png)],
  ])("and refused the second time: %s", async (_, make) => {
    const stream = make();
    expect(await prepareImage(stream)).toEqual({ data: new Uint8Array(png), kind: "png" });
    const { code, message } = await refusal(() => prepareImage({ data: stream }));
    expect(code).toBe("INVALID_OPTION");
    expect(message).toContain("was read before");
  });

  test("and rejects with its own error", async () => {
    const broken = new Error("the disk is gone");
    const stream = new Readable({ read: () => void stream.destroy(broken) });
    await expect(prepareImage(stream)).rejects.toBe(broken);
  });

  test.each<[string, () => Promise<ImageBytes>]>([
    [
      "a web stream",
      async () => {
        const stream = new Blob([png]).stream();
        stream.getReader();
        return stream;
      },
    ],
    [
      "a Node stream",
      async () => {
        const stream = Readable.from(inPieces(png));
        await stream.toArray();
        return stream;
      },
    ],
    ["a Node stream that was destroyed", async () => new PassThrough().destroy()],
  ])("refused after another reader: %s", async (_, make) => {
    const stream = await make();
    const { message } = await refusal(() => prepareImage(stream));
    expect(message).toContain("was read before");
  });

  test("refused where it gives text", async () => {
    const stream = Readable.from(["a", "b"]);
    const { message } = await refusal(() => prepareImage(stream));
    expect(message).toBe("The stream gives strings, not bytes: set no encoding on it.");
    expect(stream.destroyed).toBe(true);
  });
});
