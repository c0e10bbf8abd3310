import { ApiError } from "../client/errors.ts";
import { MAX_IMAGE_BYTES, MAX_IMAGES } from "../client/images/rules.ts";
import { checkImageUrl } from "../client/images/url.ts";
import type { Upload } from "../client/types.ts";
import { imageKindOf, mediaTypeOf } from "../core/image-kind.ts";
import { Refusal } from "./fake-answers.ts";

/** What is attached to nothing is gone after an hour (section 3 of the platform document), in milliseconds. */
const LIFETIME_MS = 3_600_000;

/** An image that a bot has uploaded: its bytes, or the address that the platform was to fetch. */
export interface UploadedByBot {
  readonly key: string;
  /** Absent for an address. */
  readonly bytes?: Uint8Array;
  /** What the bytes are, such as `image/png`; absent for an address. */
  readonly contentType?: string;
  readonly url?: string;
}

/** The uploads of the platform in memory. Images are not decoded: each is of one pixel. */
export class FakeUploads {
  readonly #now: () => number;
  /** When the uploads ran out that nothing was made with. */
  readonly #expires = new Map<string, number>();
  /** By the numbers of their keys; there are gaps where an upload was refused. */
  readonly #taken: (UploadedByBot | undefined)[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  get taken(): readonly UploadedByBot[] {
    return this.#taken.filter((upload) => upload !== undefined);
  }

  /** `POST /uploads` in each of its forms. */
  async take(body: unknown): Promise<Upload> {
    // Numbered before the body is read, which takes longer for one form than for another.
    const number = this.#taken.push(undefined);
    const key = `key_${number}`;
    const image = await imageIn(body);
    this.#taken[number - 1] = { key, ...image };
    this.#expires.set(key, this.#now() + LIFETIME_MS);
    const url = urlOf(key);
    return { key, url, thumbUrl: url, width: 1, height: 1, bytes: image.bytes?.length ?? 0 };
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

type Image = Omit<UploadedByBot, "key">;

/** Checks an upload as the platform does, which takes exactly one of the three forms; an address is not fetched. */
async function imageIn(body: unknown): Promise<Image> {
  if (body instanceof FormData) return await imageInForm(body);
  const { url, dataBase64, contentType }: Readonly<Record<string, unknown>> = { ...Object(body) };
  if ((url === undefined) === (dataBase64 === undefined)) {
    throw new Refusal(400, "VALIDATION", "An upload is one of url, dataBase64 and a file.");
  }
  if (typeof url === "string") return { url: fetchable(url) };
  if (typeof dataBase64 === "string" && typeof contentType === "string") {
    return checked(Buffer.from(dataBase64, "base64"));
  }
  throw new Refusal(400, "VALIDATION", "url, or dataBase64 and contentType, must be strings.");
}

async function imageInForm(form: FormData): Promise<Image> {
  const [file, ...others] = form.getAll("file");
  if (!(file instanceof Blob)) throw new Refusal(400, "VALIDATION", "The part file is missing.");
  if (others.length > 0 || form.has("url") || form.has("dataBase64")) {
    throw new Refusal(400, "VALIDATION", "An upload is one image in one form.");
  }
  return checked(new Uint8Array(await file.arrayBuffer()));
}

function fetchable(url: string): string {
  try {
    checkImageUrl(url);
    return url;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new Refusal(400, "BLOCKED_HOST", error.message);
  }
}

function checked(bytes: Uint8Array): Image {
  if (bytes.length > MAX_IMAGE_BYTES) throw new Refusal(400, "TOO_LARGE", "At most 5 MB.");
  const kind = imageKindOf(bytes);
  if (kind === undefined) {
    throw new Refusal(400, "VALIDATION", "Images are PNG, JPEG, WebP, GIF or AVIF.");
  }
  return { bytes, contentType: mediaTypeOf(kind) };
}
