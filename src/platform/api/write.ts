import { PlatformError } from "../error.ts";
import type { Quota } from "../limits/settings.ts";
import type { Target } from "../store/images.ts";
import type { Draft } from "./draft.ts";
import type { Call } from "./route.ts";

/**
 * Makes content with its images and counts it: all of that, or nothing.
 *
 * @throws {PlatformError} 429 QUOTA_EXCEEDED; 400 INVALID_IMAGE_KEY, with no key consumed
 */
export function write<Row extends { readonly seq: number }>(
  { store, limits, bot, now }: Call,
  { imageKeys }: Draft,
  {
    quota,
    make,
    target,
  }: {
    readonly quota: Quota;
    readonly make: () => Row;
    readonly target: (seq: number) => Target;
  },
): Row {
  return store.transaction(() => {
    limits.take(bot.seq, quota);
    const row = make();
    const place = { ...target(row.seq), owner: bot.seq, now };
    for (const [position, key] of imageKeys.entries()) {
      if (store.images.attach(key, { ...place, position })) continue;
      throw new PlatformError(400, "INVALID_IMAGE_KEY", `imageKeys.${position} is not valid.`);
    }
    return row;
  });
}
