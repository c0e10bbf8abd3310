import { MAX_IMAGES } from "../client/images/content.ts";
import { MAX_IMAGE_BYTES } from "../client/images/limits.ts";
import type { Upload } from "../client/types.ts";
import { imageKindOf } from "../core/image-kind.ts";
import { Refusal } from "./fake-answers.ts";

/** What is attached to nothing is gone after an hour (section 3 of the platform document), in milliseconds. */
const LIFETIME_MS = 3_600_000;

/** The uploads of the platform in memory. Images are not decoded: each is of one pixel. */
export class FakeUploads {
  readonly #now: () => number;
  /** When the uploads ran out that nothing was made with. */
  readonly #expires = new Map<string, number>();
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** `POST /uploads` in each of its forms. */
  async take(body: unknown): Promise<Upload> {
    const bytes = await sizeOf(body);
    this.#count += 1;
    const key = `key_${this.#count}`;
    this.#expires.set(key, this.#now() + LIFETIME_MS);
    const url = urlOf(key);
    return { key, url, thumbUrl: url, width: 1, height: 1, bytes };
  }

  /** Attaches: all of the keys, or none where one is of no use. */
  consume(keys: unknown): readonly string[] {
    if (keys === undefined) return [];
    if (!(Array.isArray(keys) && keys.every((key) => typeof key === "string"))) {
      throw new Refusal(400, "VALIDATION", "imageKeys must be a list of strings.");
    }
    if (keys.length > MAX_IMAGES) {
      throw new Refusal(400, "TOO_MANY_IMAGES", `At most ${MAX_IMAGES} images can be attached.`);
    }
    const good = keys.every((key) => (this.#expires.get(key) ?? 0) > this.#now());
    if (!good || new Set(keys).size < keys.length) {
      throw new Refusal(400, "INVALID_IMAGE_KEY", "An image key is unknown, expired or used.");
    }
    for (const key of keys) this.#expires.delete(key);
    return keys;
  }
}

/** Where an image is shown; nothing is there. */
export function urlOf(key: string): string {
  return `https://platform.test/images/${key}.png`;
}

/** Checks an upload as the platform does; an address is not fetched. @returns its size in bytes, 0 for an address */
async function sizeOf(body: unknown): Promise<number> {
  if (body instanceof FormData) {
    const file = body.get("file");
    if (!(file instanceof Blob)) throw new Refusal(400, "VALIDATION", "The part file is missing.");
    return sizeOfImage(new Uint8Array(await file.arrayBuffer()));
  }
  const { url, dataBase64 }: Readonly<Record<string, unknown>> = { ...Object(body) };
  if (typeof dataBase64 === "string") return sizeOfImage(Buffer.from(dataBase64, "base64"));
  if (typeof url !== "string") {
    throw new Refusal(400, "VALIDATION", "An upload is url, dataBase64 or a file.");
  }
  if (!url.startsWith("https://")) {
    throw new Refusal(400, "BLOCKED_HOST", "Images are fetched by https alone.");
  }
  return 0;
}

function sizeOfImage(bytes: Uint8Array): number {
  if (bytes.length > MAX_IMAGE_BYTES) throw new Refusal(400, "TOO_LARGE", "At most 5 MB.");
  if (imageKindOf(bytes) === undefined) {
    throw new Refusal(400, "VALIDATION", "Images are PNG, JPEG, WebP, GIF or AVIF.");
  }
  return bytes.length;
}
