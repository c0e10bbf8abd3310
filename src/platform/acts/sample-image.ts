import { readFileSync } from "node:fs";
import { type NewImage, newImageFile, type Target } from "../store/images.ts";
import type { Act } from "./act.ts";

/** A drawing of 640 × 480 pixels and its preview: what is attached when an act asks for images. */
interface Sample {
  readonly data: Buffer;
  readonly thumbnail: Buffer;
}

let sample: Sample | undefined;

/** Adds as many images as the act asks for to what it made. */
export function attachSamples({ store, from, input, at }: Act, target: Target): void {
  for (let position = 0; position < (input.images ?? 0); position += 1) {
    store.images.addTo(target, sampleImage(from.seq, at), position);
  }
}

function sampleImage(owner: number, at: number): NewImage {
  sample ??= { data: read("sample.png"), thumbnail: read("sample.thumb.webp") };
  return { ...sample, file: newImageFile("png"), owner, kind: "png", width: 640, height: 480, at };
}

function read(name: string): Buffer {
  return readFileSync(new URL(name, import.meta.url));
}
