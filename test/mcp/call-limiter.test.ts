import { expect, test } from "vitest";
import { CallLimiter } from "../faces/mcp.ts";

const MIB = 1024 * 1024;

/** Admits `count` calls of a token. @returns their permits; `undefined` for each refused call */
function admit(limiter: CallLimiter, count: number, token: string) {
  return Array.from({ length: count }, () => limiter.admit(token));
}

function countRefused(permits: ReturnType<typeof admit>): number {
  return permits.filter((permit) => permit === undefined).length;
}

test("calls of one token beyond 256 are refused, and another token is served", () => {
  const limiter = new CallLimiter();
  expect(countRefused(admit(limiter, 256, "one"))).toBe(0);
  expect(limiter.admit("one")).toBeUndefined();
  expect(limiter.admit("other")).toBeDefined();
});

test("calls of all tokens beyond 512 are refused", () => {
  const limiter = new CallLimiter();
  const permits = ["a", "b", "c"].flatMap((token) => admit(limiter, 171, token));
  expect(countRefused(permits)).toBe(1);
  expect(limiter.admit("d")).toBeUndefined();
});

test("a call that ended makes room, also for the bytes of its message", () => {
  const limiter = new CallLimiter();
  const [first] = admit(limiter, 256, "one");
  expect(first?.reserve(64 * MIB)).toBe(true);
  expect(limiter.admit("other")?.reserve(1)).toBe(false);
  first?.release();
  expect(limiter.admit("one")?.reserve(64 * MIB)).toBe(true);
});

test("eight messages of nearly 8 MiB are held at once, and a ninth is refused", () => {
  const limiter = new CallLimiter();
  const reserved = admit(limiter, 9, "one").map((permit) => permit?.reserve(8 * MIB - 1));
  expect(reserved).toEqual([...Array(8).fill(true), false]);
});
