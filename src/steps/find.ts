import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import { type ReadPage, readPages } from "../client/listing.ts";
import type { Comment, Message, Post } from "../client/resources.ts";
import { ServiceBotError } from "../errors.ts";
import { hasContentOf, readFingerprint, refOf } from "./fingerprint.ts";
import { stepUncertain } from "./reconcile.ts";
import type { Candidates, Intent } from "./step.ts";

/** Searches the platform's pages for effects of an earlier run. The caller decides what a match means. */

/** Rounding error of the platform's time, in ms. The time comes from a header in whole seconds. */
const CLOCK_SLACK_MS = 3_000;

/**
 * Tolerance for an intent recorded without the platform's time, in ms. Signatures are valid for 300 s, so a bot that
 * receives deliveries has a clock that is off by at most 300 s.
 */
const UNKNOWN_CLOCK_SLACK_MS = 300_000;

/** Rounding error of a date in whole seconds, in ms. An effect may look this much older than it is. */
const WHOLE_SECOND_MS = 1_000;

/** Maximum number of pages that a search reads. A page has 50 entries. */
const MAX_PAGES = 20;

/** Finds the messages that the bot has sent in a conversation since the intent. */
export async function findMessages(
  client: Client,
  conversationId: string,
  intent: Intent,
  signal: AbortSignal,
): Promise<Candidates<Message>> {
  const own: Message[] = [];
  const messages = itemsOf((cursor) =>
    client.dms.messages(conversationId, { limit: 50, cursor, signal }),
  );
  for await (const message of messages) {
    // Messages are newest first, so all further messages are older than the intent.
    if (isOlder(message.createdAt, intent, client)) break;
    if (message.fromBot) own.push(message);
  }
  return candidates("dm", own, intent);
}

/**
 * Finds the bot's comments since the intent. Searches the post recorded in the intent, because an earlier run may have
 * chosen another post than `present`.
 */
export async function findComments(
  client: Client,
  present: string,
  intent: Intent,
  signal: AbortSignal,
): Promise<Candidates<Comment>> {
  const { postId = present } = readFingerprint(intent.request) ?? {};
  const recent: Comment[] = [];
  const comments = itemsOf((cursor) =>
    client.posts.comments(postId, { limit: 50, cursor, signal }),
  );
  for await (const comment of comments) {
    // The platform document does not define the order of comments, so read all pages.
    if (!isOlder(comment.createdAt, intent, client)) recent.push(comment);
  }
  const same = recent.filter((comment) => isSame(comment, intent));
  const matters = intent.lostRun === undefined ? same : recent;
  if (matters.length === 0) return candidates<Comment>("comment", [], intent);
  const { username } = await client.me({ signal });
  // The platform document does not define a comment's author either. Without an author, an equal text proves nothing.
  const isUnknown = username === undefined || same.some(({ author }) => author === undefined);
  if (same.length > 0 && isUnknown) {
    throw stepUncertain(
      `Post ${postId} has a comment with the text of this reply, but its author is unknown.`,
    );
  }
  const own = matters.filter(({ author }) => author !== undefined && author.username === username);
  return candidates("comment", own, intent);
}

/**
 * Finds the bot's posts in the feed since the intent. The platform document does not define whose posts the feed shows,
 * so a post missing from the feed may still exist.
 */
export async function findPosts(
  client: Client,
  intent: Intent,
  signal: AbortSignal,
): Promise<Candidates<Post>> {
  const { username } = await client.me({ signal });
  const own: Post[] = [];
  try {
    for await (const post of itemsOf((cursor) => client.feed({ limit: 50, cursor, signal }))) {
      const isOwn = username !== undefined && post.author?.username === username;
      if (isOwn && !isOlder(post.createdAt, intent, client)) own.push(post);
    }
  } catch (error) {
    // The endpoint is missing, the token may not read it, or the feed is endless. The search is inconclusive.
    const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 429;
    const isEndless = error instanceof ServiceBotError && error.code === "STEP_UNCERTAIN";
    if (!isRefused && !isEndless) throw error;
  }
  return { ...candidates("post", own, intent), isComplete: false };
}

type FoundContent = Pick<Post, "id" | "text" | "images" | "createdAt">;

function candidates<T extends FoundContent>(
  kind: "dm" | "comment" | "post",
  own: readonly T[],
  intent: Intent,
): Candidates<T> {
  const { same = [], others = [] } = Object.groupBy(own, (shown) =>
    isSame(shown, intent) ? "same" : "others",
  );
  const dateOf = ({ createdAt }: T) => Date.parse(createdAt ?? "");
  return {
    same: same
      .sort((a, b) => dateOf(a) - dateOf(b))
      .map((result) => ({ result, ref: refOf(kind, result.id) })),
    others: others.map(({ id }) => refOf(kind, id)),
    isComplete: true,
  };
}

function isSame(shown: FoundContent, { request }: Intent): boolean {
  const fingerprint = readFingerprint(request);
  return fingerprint !== undefined && hasContentOf(fingerprint, shown);
}

/**
 * Returns whether an effect is older than the intent. An unreadable date counts as recent, because a false match is
 * checked again, but a miss would send the message twice.
 */
function isOlder(createdAt: string | undefined, intent: Intent, client: Client): boolean {
  return Date.parse(createdAt ?? "") < earliest(intent, client);
}

/** Returns the earliest possible time of an effect, in ms since 1970 on the platform's clock. */
function earliest({ request, startedAt, lostRun }: Intent, client: Client): number {
  // A lost run's intent is not in the restored inbox, so use the event's time.
  if (lostRun !== undefined) {
    return (lostRun.eventAt ?? Number.NEGATIVE_INFINITY) - WHOLE_SECOND_MS;
  }
  const at = readFingerprint(request)?.at;
  if (at !== undefined) return at - CLOCK_SLACK_MS;
  return startedAt + client.clockOffsetMs - UNKNOWN_CLOCK_SLACK_MS;
}

/**
 * Reads the items of all pages.
 *
 * @throws {ServiceBotError} STEP_UNCERTAIN if there are more than `MAX_PAGES`
 */
async function* itemsOf<T>(read: ReadPage<T>): AsyncGenerator<T> {
  for await (const { items, nextCursor } of readPages(read, MAX_PAGES)) {
    yield* items;
    if (nextCursor === null) return;
  }
  throw stepUncertain(
    `The newest ${MAX_PAGES * 50} entries do not show whether the bot sent this reply.`,
  );
}
