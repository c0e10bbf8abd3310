import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import type { Post, SentPost } from "../client/types.ts";
import { type Effect, howToSettle, type OpenIntent } from "../core/step.ts";
import { ServiceBotError } from "../errors.ts";
import { adopt } from "./adopt.ts";
import { isOlder, readPages, sameContent } from "./find-reply.ts";

/**
 * Looks in the feed for a post that an earlier run may have made. The document does not say whose
 * posts are in the feed, so one that is not there may still have been made: then a person must look.
 *
 * @throws {ServiceBotError} STEP_UNCERTAIN
 */
export async function findPost(
  client: Client,
  intent: OpenIntent,
  signal: AbortSignal,
): Promise<Effect<SentPost> | undefined> {
  const { username } = await client.me({ signal });
  const own: Post[] = [];
  try {
    const pages = readPages((cursor) => client.feed({ limit: 50, cursor, signal }));
    for await (const post of pages) {
      const mine = username !== undefined && post.author?.username === username;
      if (mine && !isOlder(post.createdAt, intent, client) && sameContent(post, intent))
        own.push(post);
    }
  } catch (error) {
    // No such endpoint, no right to read it, or a feed without end: nothing is learned from it.
    const refused = error instanceof ApiError && error.status >= 400 && error.status < 429;
    if (!refused && !(error instanceof ServiceBotError && error.code === "STEP_UNCERTAIN"))
      throw error;
  }
  const found = await adopt("post", own, intent);
  if (found !== undefined) return found;
  throw new ServiceBotError(
    "STEP_UNCERTAIN",
    "Whether this post was made cannot be told: it is not in the feed, which need not have it. " +
      `Look at the bot's posts. ${howToSettle()}`,
  );
}
