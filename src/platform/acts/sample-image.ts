import { randomBytes } from "node:crypto";
import type { NewImage, Target } from "../store/images.ts";
import type { Act } from "./act.ts";

/** A PNG of one pixel: what is attached when an act asks for images. */
const PIXEL: Buffer = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);

/** Adds as many images as the act asks for to what it made. */
export function attachSamples({ store, from, input, at }: Act, target: Target): void {
  for (let position = 0; position < (input.images ?? 0); position += 1) {
    store.images.addTo(target, sampleImage(from.seq, at), position);
  }
}

function sampleImage(owner: number, at: number): NewImage {
  const file = `${randomBytes(16).toString("hex")}.png`;
  return { file, owner, kind: "png", width: 1, height: 1, data: PIXEL, at };
}
