import { randomBytes } from "node:crypto";
import * as z from "zod";
import type { Clock } from "../../core/clock.ts";
import { mediaTypeOf } from "../../core/image-kind.ts";
import { invalid, PlatformError } from "../error.ts";
import { usernameIn } from "../input-rules.ts";
import type { Limits } from "../limits.ts";
import { type Images, type NewImage, newImageFile } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import { requireEnabled } from "../token.ts";
import type { UploadView, Views } from "../views.ts";
import type { Download } from "./download.ts";
import { type ImageFacts, inspect } from "./image.ts";
import type { MakeThumbnail } from "./thumbnail.ts";
import { imageTooLarge, MAX_IMAGE_BYTES, readForm, type UploadForm } from "./upload-body.ts";

export interface UploadsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly views: Views;
  readonly cleaner: Cleaner;
  readonly download: Download;
  readonly makeThumbnail: MakeThumbnail;
}

/** An image's owner and type. */
export interface ImageInput {
  /** Username of the owner, a user or bot. An unknown user is created. */
  readonly from: string;
  /** Expected type, such as `image/png`. Default: the type of the bytes. */
  readonly contentType?: string | undefined;
}

export const imageInput: z.ZodType<ImageInput> = z.strictObject({
  from: z.string().max(1_000),
  contentType: z.string().optional(),
});

// Treat an unreadable value as unset, because a user may load any state file.
const storage: z.ZodType<{ configured: boolean }> = z
  .object({ configured: z.boolean() })
  .catch({ configured: true });

/** Accepts images and keeps them until they are attached (sections 3 and 4 of the platform document). */
export class Uploads {
  readonly #options: UploadsOptions;
  #configured: boolean;

  constructor(options: UploadsOptions) {
    this.#options = options;
    const { settings } = options.store;
    this.#configured = storage.parse(settings.get("storage")).configured;
    settings.put("storage", { configured: this.#configured });
  }

  /** False if the server has no storage. Uploads then get 503 NOT_CONFIGURED (section 7 of the platform document). */
  get configured(): boolean {
    return this.#configured;
  }

  set configured(configured: boolean) {
    this.#configured = configured;
    this.#options.store.settings.put("storage", { configured });
  }

  /**
   * Stores an image for an app and returns its key.
   *
   * @param body parsed request body, in one of the three forms
   * @param signal aborts the download and the later steps
   * @throws {PlatformError} 400 VALIDATION, TOO_LARGE, BLOCKED_HOST, NOT_IMAGE; 403 APP_DISABLED; 429 QUOTA_EXCEEDED;
   * 503 NOT_CONFIGURED, STATE_REPLACED
   */
  async accept(body: unknown, bot: User, signal: AbortSignal): Promise<UploadView> {
    this.#requireStorage();
    const form = readForm(body);
    this.#options.limits.check(bot.seq, "uploadsPerDay");
    const bytes = "url" in form ? await this.#options.download(form.url, signal) : form.bytes;
    const facts = checkImage(bytes, form);
    const thumbnail = await this.#options.makeThumbnail(bytes, facts);
    // Check again, because the state may have changed while the image was downloaded or the thumbnail was created.
    this.#options.store.requireOpen();
    requireEnabled(this.#options.store.apps, bot.seq);
    // Store nothing, because the disconnected client cannot receive the key.
    if (signal.aborted) throw invalid("The client disconnected before the response.");
    return this.#keep({ ...facts, data: bytes, thumbnail }, () => {
      this.#options.limits.take(bot.seq, "uploadsPerDay");
      return bot;
    });
  }

  /**
   * Stores an image for a control API action by a user or bot. No quota applies.
   *
   * @throws {PlatformError} 400 VALIDATION, TOO_LARGE; 503 NOT_CONFIGURED, STATE_REPLACED
   */
  async acceptOf(bytes: Uint8Array, { from, contentType }: ImageInput): Promise<UploadView> {
    this.#requireStorage();
    const username = usernameIn(from, "from");
    const { store, makeThumbnail } = this.#options;
    const facts = checkImage(bytes, contentType === undefined ? { bytes } : { bytes, contentType });
    const thumbnail = await makeThumbnail(bytes, facts);
    store.requireOpen();
    return this.#keep({ ...facts, data: bytes, thumbnail }, () =>
      store.people.findOrCreate(username),
    );
  }

  #requireStorage(): void {
    if (this.#configured) return;
    throw new PlatformError(503, "NOT_CONFIGURED", "The server has no storage for images.");
  }

  /** @param ownerOf returns the owner; called in the transaction that stores the image */
  #keep(image: Omit<NewImage, "file" | "owner" | "at">, ownerOf: () => User): UploadView {
    const { store, clock, views, cleaner } = this.#options;
    // The file name and the key are independent random values, because the file name is public and the key is secret.
    const key = `img_${randomBytes(24).toString("base64url")}`;
    const file = newImageFile(image.kind);
    const kept = store.transaction(() => {
      const owner = ownerOf().seq;
      return store.images.addUpload({ ...image, file, owner, at: clock.now() }, key);
    });
    cleaner.wake();
    const view = views.image(kept);
    return {
      key,
      ...view,
      thumbUrl: view.thumbUrl ?? view.url,
      bytes: image.data.byteLength,
    };
  }
}

function checkImage(bytes: Uint8Array, form: UploadForm): ImageFacts {
  if (bytes.byteLength > MAX_IMAGE_BYTES) throw imageTooLarge();
  const facts = inspect(bytes);
  if (typeof facts === "string") {
    if ("url" in form)
      throw new PlatformError(400, "NOT_IMAGE", `The URL returned no image: ${facts}.`);
    throw invalid(facts);
  }
  if ("contentType" in form && form.contentType !== mediaTypeOf(facts.kind)) {
    throw invalid(`contentType is ${form.contentType}, but the bytes are ${facts.kind}`);
  }
  return facts;
}

/** Removes uploads that were not attached within an hour (section 3 of the platform document). */
export class Cleaner {
  readonly #images: Images;
  readonly #clock: Clock;
  #cancel: () => void = () => {};

  constructor(images: Images, clock: Clock) {
    this.#images = images;
    this.#clock = clock;
  }

  /** Removes expired uploads and schedules the next call. */
  wake(): void {
    this.stop();
    const now = this.#clock.now();
    this.#images.clean(now);
    const next = this.#images.nextExpiry();
    if (next === undefined) return;
    this.#cancel = this.#clock.timer(next - now, () => this.wake(), { background: true });
  }

  stop(): void {
    this.#cancel();
  }
}
