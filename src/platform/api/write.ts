import { type Content, targetOf } from "../events/content.ts";
import type { Quota } from "../limits/settings.ts";
import { attachUploads } from "../uploads/attach.ts";
import type { Draft } from "./draft.ts";
import type { Call } from "./route.ts";

/**
 * Makes content with its images, counts it and tells the other bots that it concerns: all of that, or nothing.
 *
 * @throws {PlatformError} 429 QUOTA_EXCEEDED; 400 INVALID_IMAGE_KEY, with no key consumed
 */
export function write<Made extends Content>(
  { store, publisher, limits, bot, now }: Call,
  { imageKeys }: Draft,
  { quota, make }: { readonly quota: Quota; readonly make: () => Made },
): Made {
  const { result } = publisher.transaction((events) => {
    limits.take(bot.seq, quota);
    const made = make();
    const place = { ...targetOf(made), owner: bot.seq, now };
    attachUploads(store.images, imageKeys, place);
    events.content(made, { from: bot, at: now });
    return made;
  });
  return result;
}
