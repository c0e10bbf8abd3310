import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { MAX_IMAGE_BYTES, type PreparedImage, prepareImage } from "../../faces/client.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { refusal } from "./refusal.ts";
import { pngOf, sampleOf, samples } from "./samples.ts";

function file(name: string, bytes: Uint8Array | string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

test.each(samples)("$name is read from a file", async ({ bytes, kind }) => {
  const image = await prepareImage({ path: file("image", bytes) });
  expect(image).toEqual({ data: new Uint8Array(bytes), kind });
});

test("a PNG renamed to .jpg is recognised", async () => {
  expect(await prepareImage(file("cat.jpg", sampleOf("png")))).toMatchObject({ kind: "png" });
});

test("a file of 5 MB passes", async () => {
  const image: PreparedImage = await prepareImage(file("a.png", pngOf(MAX_IMAGE_BYTES)));
  expect(image).toMatchObject({ kind: "png" });
});

describe("refused, with the path:", () => {
  test.each([
    ["5 MB and one byte", pngOf(MAX_IMAGE_BYTES + 1), "TOO_LARGE"],
    ["a text", "a text", "VALIDATION"],
    ["an empty file", "", "VALIDATION"],
  ])("%s", async (_, bytes, code) => {
    const path = file("cat.png", bytes);
    const error = await refusal(() => prepareImage(path));
    expect(error.platformCode).toBe(code);
    expect(error.message).toContain(`"${path}"`);
  });

  test("a huge file, which is not read", async () => {
    const path = file("huge.png", "");
    truncateSync(path, 2 ** 40);
    expect((await refusal(() => prepareImage(path))).platformCode).toBe("TOO_LARGE");
  });

  test("a file that is not there, with what else it may be", async () => {
    const error = await refusal(() => prepareImage("uploads/7.png"));
    expect(error).toMatchObject({ platformCode: undefined, cause: { code: "ENOENT" } });
    expect(error.message).toBe(
      'The image "uploads/7.png" cannot be read: there is no such file. ' +
        "If it is the key of an upload, pass { key }.",
    );
  });

  test("a path of the shell", async () => {
    const { message } = await refusal(() => prepareImage("~/cat.png"));
    expect(message).toContain("Node does not");
  });

  test("a path that cannot be one", async () => {
    const error = await refusal(() => prepareImage({ path: "a\0b.png" }));
    expect(error.platformCode).toBeUndefined();
  });

  test("a folder", async () => {
    const path = join(temporaryFolder(), "a.png");
    mkdirSync(path);
    const { message } = await refusal(() => prepareImage(path));
    expect(message).toContain(`"${path}"`);
    expect(message).toMatch(/a folder|not permitted/);
  });

  const unix = process.platform === "win32" ? test.skip : test;

  unix("a FIFO, without waiting for who writes to it", async () => {
    const path = join(temporaryFolder(), "a.png");
    execFileSync("mkfifo", [path]);
    const { message } = await refusal(() => prepareImage(path));
    expect(message).toBe(`"${path}" is a device, not a file.`);
  });

  unix("a device", async () => {
    const { message } = await refusal(() => prepareImage("/dev/zero"));
    expect(message).toBe('"/dev/zero" is a device, not a file.');
  });

  unix("a socket", async () => {
    const path = join(temporaryFolder(), "a.png");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    const { message } = await refusal(() => prepareImage(path));
    expect(message).toContain("it is a socket or a device");
  });

  const linux = process.platform === "linux" ? test : test.skip;

  linux("a file that holds more than it says", async () => {
    const { message } = await refusal(() => prepareImage("/proc/self/maps"));
    expect(message).toContain("grew while it was read");
  });
});

test("nothing is read once the signal is aborted", async () => {
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  const path = file("cat.png", sampleOf("png"));
  await expect(prepareImage(path, signal)).rejects.toBe(reason);
});
