import sharp from "sharp";
import { expect, test } from "vitest";
import { badge } from "../../templates/starter/src/badge.ts";

async function pixelsOf(picture: Uint8Array) {
  const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true });
  const pixel = (x: number, y: number) =>
    data.subarray((y * info.width + x) * info.channels).subarray(0, 3);
  return { ...info, pixel };
}

test("the starter's picture is a PNG that decoders take, the same on the left and the right", async () => {
  const { width, height, pixel } = await pixelsOf(badge("ada"));
  expect({ width, height }).toEqual({ width: 80, height: 80 });
  const colours = new Set<string>();
  for (let y = 0; y < height; y += 8) {
    for (let x = 0; x < width; x += 8) {
      expect(pixel(x, y)).toEqual(pixel(width - 1 - x, y));
      colours.add(pixel(x, y).toString("hex"));
    }
  }
  expect(colours.size).toBe(2);
});

test("a user's picture is always the same, and differs from other users' pictures", () => {
  expect(badge("ada")).toEqual(badge("ada"));
  expect(badge("ada")).not.toEqual(badge("ben"));
});
