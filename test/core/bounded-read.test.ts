import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { readUpTo } from "../faces/core.ts";

test("reads a stream to its end", async () => {
  const stream = Readable.from([Buffer.from("ab"), Buffer.from("c")]);
  expect(await readUpTo(stream, 3)).toEqual(Buffer.from("abc"));
});

test("closes a stream that is too long", async () => {
  const stream = Readable.from([Buffer.from("ab"), Buffer.from("cd")]);
  expect(await readUpTo(stream, 3)).toBeUndefined();
  expect(stream.destroyed).toBe(true);
});

test("rejects with the error of a stream", async () => {
  const error = new Error("broken");
  const stream = new Readable({ read: () => undefined });
  const reading = readUpTo(stream, 3);
  stream.push(Buffer.from("a"));
  stream.destroy(error);
  await expect(reading).rejects.toBe(error);
});

test("rejects if a stream closes without an error before its end", async () => {
  const stream = new Readable({ read: () => undefined });
  const reading = readUpTo(stream, 3);
  stream.destroy();
  await expect(reading).rejects.toThrow("the response ended early");
});

test("rejects if a stream was closed before it is read", async () => {
  const stream = Readable.from([Buffer.from("a")]).destroy();
  await setImmediate();
  await expect(readUpTo(stream, 3)).rejects.toThrow("the response ended early");
});
