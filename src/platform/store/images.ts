import { randomBytes } from "node:crypto";
import type { Database } from "better-sqlite3";
import type { ImageKind } from "../../core/image-kind.ts";
import { PlatformError } from "../error.ts";
import { Statement } from "./statement.ts";

export interface Image {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly thumbnail: string | null;
}

export interface NewImage extends Omit<Image, "thumbnail"> {
  /** `seq` of the uploading user or bot. */
  readonly owner: number;
  readonly kind: ImageKind;
  readonly data: Uint8Array;
  /** Preview in WebP. */
  readonly thumbnail: Uint8Array | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type Target =
  | { readonly post: number }
  | { readonly comment: number }
  | { readonly message: number };

export interface ImageFile {
  readonly kind: ImageKind;
  readonly data: Uint8Array;
}

interface Place {
  readonly post: number | null;
  readonly comment: number | null;
  readonly message: number | null;
}

/** Lifetime of an unattached upload (section 8 of the platform document). */
const UPLOAD_LIFETIME_MS = 3_600_000;

/** Replaces the extension of the image's file name. */
const THUMBNAIL_ENDING = ".thumb.webp";

const NOWHERE: Place = { post: null, comment: null, message: null };
// The `+` avoids recompiling a statement that runs for each post (see `openDatabase`).
const OF = "(post = +@post OR comment = +@comment OR message = +@message)";
const VALID = "(key IS NULL OR created_at > @expired)";

/** Returns an unguessable file name, because an image's URL is public. */
export function newImageFile(kind: ImageKind): string {
  return `${randomBytes(16).toString("hex")}.${kind}`;
}

/** Images, and uploads that are not attached yet (section 3 of the platform document). */
export class Images {
  readonly #insert: Statement<[object]>;
  readonly #insertThumbnail: Statement<[object]>;
  readonly #attach: Statement<[object]>;
  readonly #of: Statement<[Place], Image>;
  readonly #removeFrom: Statement<[Place]>;
  readonly #file: Statement<[{ file: string; expired: number }], ImageFile>;
  readonly #oldest: Statement<[], { at: number | null }>;
  readonly #clean: Statement<[number]>;

  constructor(db: Database) {
    this.#insert = new Statement(
      db,
      `INSERT INTO image (file, key, owner, kind, width, height, created_at, post, comment, message,
                          position, data)
       VALUES (@file, @key, @owner, @kind, @width, @height, @at, @post, @comment, @message,
               @position, @data)`,
    );
    this.#insertThumbnail = new Statement(
      db,
      "INSERT INTO thumbnail (image, file, data) VALUES (@image, @file, @data)",
    );
    this.#attach = new Statement(
      db,
      `UPDATE image SET key = NULL, post = @post, comment = @comment, message = @message,
                        position = @position
       WHERE key = @key AND owner = @owner AND created_at > @expired`,
    );
    this.#of = new Statement(
      db,
      `SELECT image.file, width, height, thumbnail.file AS thumbnail
       FROM image LEFT JOIN thumbnail ON thumbnail.image = image.seq
       WHERE ${OF} ORDER BY position`,
    );
    this.#removeFrom = new Statement(db, `DELETE FROM image WHERE ${OF}`);
    this.#file = new Statement(
      db,
      `SELECT kind, data FROM image WHERE file = @file AND ${VALID}
       UNION ALL
       SELECT 'webp', thumbnail.data FROM thumbnail JOIN image ON image.seq = thumbnail.image
       WHERE thumbnail.file = @file AND ${VALID}`,
    );
    this.#oldest = new Statement(
      db,
      "SELECT min(created_at) AS at FROM image WHERE key IS NOT NULL",
    );
    this.#clean = new Statement(db, "DELETE FROM image WHERE key IS NOT NULL AND created_at <= ?");
  }

  /** Stores an upload until it is attached or an hour has passed. */
  addUpload(image: NewImage, key: string): Image {
    return this.#add(image, { ...NOWHERE, key, position: null });
  }

  /** Adds an image to content without an upload. */
  addTo(target: Target, image: NewImage, position: number): void {
    this.#add(image, { ...NOWHERE, ...target, key: null, position });
  }

  #add({ thumbnail: data, ...image }: NewImage, place: object): Image {
    const { lastInsertRowid } = this.#insert.run({ ...image, ...place });
    const { file, width, height } = image;
    if (data === undefined) return { file, width, height, thumbnail: null };
    const thumbnail = file.replace(/\.[^.]*$/, THUMBNAIL_ENDING);
    this.#insertThumbnail.run({ image: lastInsertRowid, file: thumbnail, data });
    return { file, width, height, thumbnail };
  }

  /** Consumes a key. Returns false if the key is invalid, has expired or belongs to another owner. */
  attach(key: string, target: Target & { owner: number; now: number; position: number }): boolean {
    const expired = target.now - UPLOAD_LIFETIME_MS;
    return this.#attach.run({ ...NOWHERE, ...target, key, expired }).changes === 1;
  }

  of(target: Target): Image[] {
    return this.#of.all({ ...NOWHERE, ...target });
  }

  removeFrom(target: Target): void {
    this.#removeFrom.run({ ...NOWHERE, ...target });
  }

  /** Returns `undefined` if the upload has expired. */
  file(file: string, now: number): ImageFile | undefined {
    return this.#file.get({ file, expired: now - UPLOAD_LIFETIME_MS });
  }

  /** Returns the time at which the next upload expires, in ms since 1970, or `undefined` if there is none. */
  nextExpiry(): number | undefined {
    const at = this.#oldest.get()?.at ?? undefined;
    return at === undefined ? undefined : at + UPLOAD_LIFETIME_MS;
  }

  clean(now: number): void {
    this.#clean.run(now - UPLOAD_LIFETIME_MS);
  }
}

/**
 * Attaches uploads to content in order and consumes their keys. Must run in a transaction, so that an invalid key rolls
 * back the whole write.
 *
 * @throws {PlatformError} 400 INVALID_IMAGE_KEY
 */
export function attachUploads(
  images: Images,
  keys: readonly string[],
  place: Target & { readonly owner: number; readonly now: number },
): void {
  for (const [position, key] of keys.entries()) {
    if (images.attach(key, { ...place, position })) continue;
    throw new PlatformError(400, "INVALID_IMAGE_KEY", `imageKeys.${position} is not valid.`);
  }
}
