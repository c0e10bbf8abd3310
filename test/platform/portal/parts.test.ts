import { expect, test } from "vitest";
import { ago, bytes, duration } from "./face.ts";

test.each([
  [0, "0 s"],
  [999, "0 s"],
  [1_000, "1 s"],
  [61_000, "1 min 1 s"],
  [3_600_000, "1 h"],
  [3_605_000, "1 h"],
  [90_061_000, "1 d 1 h"],
  [-30_000, "30 s"],
])("%d ms are formatted as %s", (ms, said) => {
  expect(duration(ms)).toBe(said);
});

test.each([
  [-3, "just now"],
  [4_999, "just now"],
  [59_000, "59 s ago"],
  [125_000, "2 min ago"],
  [172_800_000, "2 d ago"],
])("%d ms are %s", (ms, words) => {
  expect(ago(ms)).toBe(words);
});

test.each([
  [999, "999 B"],
  [1_500, "1.5 kB"],
  [2_000_000, "2.0 MB"],
])("%d bytes are formatted as %s", (count, said) => {
  expect(bytes(count)).toBe(said);
});
