import { BodyBudget } from "../../core/body.ts";
import { PlatformError } from "../error.ts";
import type { BodyLimit } from "../http/body.ts";

/** In ms. Half a gigabyte from another machine of a home network. */
const SNAPSHOT_TIMEOUT_MS = 120_000;

/** The largest snapshot that can be uploaded, as a file or as JSON, in bytes. */
const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

/** A snapshot comes with the token, so the largest may be under way beside the bodies of the API. */
export const snapshotLimit: BodyLimit = {
  maxBytes: MAX_SNAPSHOT_BYTES,
  budget: new BodyBudget(2 * MAX_SNAPSHOT_BYTES),
  timeoutMs: SNAPSHOT_TIMEOUT_MS,
  tooLarge: () =>
    new PlatformError(
      413,
      "TOO_LARGE",
      `A snapshot holds at most ${MAX_SNAPSHOT_BYTES} bytes; start a platform with --state FILE for a larger one.`,
    ),
};

/** A text of 1 MB, each character of which may be escaped. */
const MAX_EDITED_BYTES = 7 * 1024 * 1024;

/** Of a request that has the body of a delivery in it. */
export const editedLimit: BodyLimit = {
  maxBytes: MAX_EDITED_BYTES,
  tooLarge: () =>
    new PlatformError(413, "TOO_LARGE", "The body of a delivery holds at most 1048576 bytes."),
};
