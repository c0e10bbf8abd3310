import { readFileSync } from "node:fs";
import { type NewImage, newImageFile, type Target } from "../store/images.ts";
import { attachUploads } from "../uploads/attach.ts";
import type { Act } from "./act.ts";

/** A drawing of 640 × 480 pixels and its preview: what is attached when an act asks for images. */
interface Sample {
  readonly data: Buffer;
  readonly thumbnail: Buffer;
}

let sample: Sample | undefined;

/** Adds the images of the act to what it made: those that were uploaded, then as many samples as it asks for. */
export function attachImages({ store, from, input, at }: Act, target: Target): void {
  const { images = 0, imageKeys = [] } = input;
  attachUploads(store.images, imageKeys, { ...target, owner: from.seq, now: at });
  for (let position = imageKeys.length; position < imageKeys.length + images; position += 1) {
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
