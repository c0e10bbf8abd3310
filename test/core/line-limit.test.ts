import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineLimit } from "../faces/core.ts";

async function through(chunks: readonly string[], max: number) {
  const long: string[] = [];
  const onLong = (beginning: Buffer, end: Buffer) => long.push(`${beginning}|${end}`);
  const passed = await text(
    Readable.from(chunks.map((one) => Buffer.from(one))).pipe(new LineLimit({ max, onLong })),
  );
  return { passed, long };
}

test("lines pass whole, however they are cut into chunks", async () => {
  const line = fc.string({ maxLength: 20 }).map((one) => one.replaceAll("\n", ""));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(30)), async (lines, cuts) => {
      const whole = lines.map((one) => `${one}\n`).join("");
      const bytes = Buffer.from(whole);
      const chunks: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        chunks.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      chunks.push(bytes.subarray(at));
      const limit = new LineLimit({ max: 1_000, onLong: () => expect.unreachable() });
      expect(await text(Readable.from(chunks.filter(({ length }) => length > 0)).pipe(limit))).toBe(
        whole,
      );
    }),
  );
});

test("a line at the limit passes, and a longer one is dropped with its line feed", async () => {
  expect(await through(["1234\n", "12345\n", "12", "345", "6\nab\n"], 4)).toEqual({
    passed: "1234\nab\n",
    long: ["12345|12345", "123456|3456"],
  });
});

test("a last line without a line feed passes, or is dropped", async () => {
  expect(await through(["a\nb"], 4)).toEqual({ passed: "a\nb", long: [] });
  expect(await through(["a\n12", "345"], 4)).toMatchObject({
    passed: "a\n",
    long: [expect.any(String)],
  });
});

test("of a long line, the beginning and the end are known", async () => {
  const { long } = await through(["begin", "x".repeat(10_000), "y".repeat(10_000), "end\n"], 9_000);
  expect(long[0]).toMatch(/^beginx{251}\|y{253}end$/);
});
