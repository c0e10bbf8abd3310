import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import type {
  Comment,
  Conversation,
  Message,
  Page,
  Post,
  SentComment,
  SentMessage,
  SentPost,
} from "../client/types.ts";
import { ServiceBotError } from "../errors.ts";
import { idText } from "../events/id.ts";
import type { AnyEvent } from "../events/types.ts";
import { type Asked, adopt, expectNothingElse } from "./reconcile.ts";
import { type Effect, howToSettle, type OpenIntent } from "./step.ts";

/**
 * The platform's clock is known by a header of whole seconds: what it dates up to this long before the
 * intent still counts as newer, in milliseconds.
 */
const CLOCK_SLACK_MS = 3_000;

/**
 * The same for an intent that was recorded before the platform had told its time. Its signatures are
 * good for 300 s, so the clocks of a bot that gets deliveries are not further apart. In milliseconds.
 */
const UNKNOWN_CLOCK_SLACK_MS = 300_000;

/** What the platform dates by whole seconds looks older than it is by up to this, in milliseconds. */
const WHOLE_SECOND_MS = 1_000;

/** Beyond this many pages of 50 it cannot be told whether the reply is there. */
const MAX_PAGES = 20;

/** Looks in a conversation for a message of the bot that an earlier run may have sent. */
export async function findMessage(
  client: Client,
  conversationId: string,
  intent: OpenIntent,
  signal: AbortSignal,
): Promise<Effect<SentMessage> | undefined> {
  const found: Message[] = [];
  const others: Message[] = [];
  const pages = readPages((cursor) =>
    client.dms.messages(conversationId, { limit: 50, cursor, signal }),
  );
  for await (const message of pages) {
    // Newest first, so everything from here on is older than the intent.
    if (isOlder(message.createdAt, intent, client)) break;
    if (message.fromBot) (sameContent(message, intent) ? found : others).push(message);
  }
  return (await adopt("dm", found, intent)) ?? (await expectNothingElse("dm", others, intent));
}

/** Looks among the comments of a post for one that an earlier run may have made. */
export async function findComment(
  client: Client,
  postId: string,
  intent: OpenIntent,
  signal: AbortSignal,
): Promise<Effect<SentComment> | undefined> {
  const same: Comment[] = [];
  const others: Comment[] = [];
  const pages = readPages((cursor) => client.posts.comments(postId, { limit: 50, cursor, signal }));
  for await (const comment of pages) {
    // The order of comments is not documented, so all of them are read.
    if (isOlder(comment.createdAt, intent, client)) continue;
    (sameContent(comment, intent) ? same : others).push(comment);
  }
  if (same.length === 0 && (intent.past === undefined || others.length === 0)) return undefined;
  const { username } = await client.me({ signal });
  // Who made a comment is not documented either: without it, one with the same text proves nothing.
  const unknown = username === undefined || same.some((comment) => comment.author === undefined);
  if (same.length > 0 && unknown) {
    throw new ServiceBotError(
      "STEP_UNCERTAIN",
      `Post ${postId} has a comment with the text of this reply, and the platform does not say whose it is. ` +
        howToSettle(),
    );
  }
  const own = (comments: readonly Comment[]) =>
    comments.filter(({ author }) => author !== undefined && author.username === username);
  return (
    (await adopt("comment", own(same), intent)) ??
    (await expectNothingElse("comment", own(others), intent))
  );
}

/** An unreadable date is not older: better to look at it than to say something twice. */
function isOlder(createdAt: string | undefined, intent: OpenIntent, client: Client): boolean {
  return Date.parse(createdAt ?? "") < earliest(intent, client);
}

/** No effect of the intent is older, in milliseconds since 1970 on the platform's clock. */
function earliest({ request, startedAt, past }: OpenIntent, client: Client): number {
  // Nothing of a lost intent's time is known but that it was after the event.
  if (past !== undefined) return (past.since ?? Number.NEGATIVE_INFINITY) - WHOLE_SECOND_MS;
  const { at }: Asked = JSON.parse(request);
  if (at !== undefined) return at - CLOCK_SLACK_MS;
  return startedAt + client.clockOffsetMs - UNKNOWN_CLOCK_SLACK_MS;
}

/**
 * The same text, and as many images as were to be attached: a message of images alone has no text, and
 * neither has a deleted one (section 2).
 */
function sameContent({ text, images }: Pick<Post, "text" | "images">, intent: OpenIntent): boolean {
  const asked: Asked = JSON.parse(intent.request);
  if (images.length !== asked.imageCount) return false;
  return text.trim() === (asked.text ?? "").trim();
}

/** @throws {ServiceBotError} STEP_UNCERTAIN when there is no end to it */
async function* readPages<T>(
  read: (cursor: string | undefined) => PromiseLike<Page<T>>,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, nextCursor } = await read(cursor);
    yield* items;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
  throw new ServiceBotError(
    "STEP_UNCERTAIN",
    `Whether this reply was sent could not be told from the newest ${MAX_PAGES * 50} entries. ${howToSettle()}`,
  );
}

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

/** Pages of 50 conversations, newest first. The conversation of a new message is on the first one. */
const MAX_PEER_PAGES = 5;

/** Looks up the other side of the event's conversation in `GET /dm/conversations` (section 2). */
export async function findPeer(
  client: Client,
  event: AnyEvent,
  signal: AbortSignal,
): Promise<Conversation["peer"] | undefined> {
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const conversationId = idText(payload.conversationId);
  if (conversationId === undefined) return undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PEER_PAGES; page++) {
    const { items, nextCursor } = await client.dms.conversations({ limit: 50, cursor, signal });
    const found = items.find(({ id }) => id === conversationId);
    if (found !== undefined || nextCursor === null) return found?.peer;
    cursor = nextCursor;
  }
  return undefined;
}
