import * as z from "zod";
import type { Scope } from "../../core/platform-contract.ts";
import { invalid, notFound, PlatformError } from "../error.ts";
import { type Content, targetOf } from "../events/content.ts";
import type { Publisher } from "../events/publisher.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { validate } from "../http/body.ts";
import { badCursor, limit, type Page, page, text, window } from "../http/query.ts";
import { type Route, Routes } from "../http/routes.ts";
import { checkText, MAX_IMAGES } from "../input-rules.ts";
import type { Limits, Quota } from "../limits.ts";
import {
  BEFORE_FIRST_EVENT,
  commentIds,
  eventId,
  eventSeq,
  idOf,
  messageIds,
  seqOf,
} from "../store/ids.ts";
import { attachUploads } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Post, TrendingWindow } from "../store/posts.ts";
import type { Window } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import type { Created } from "../timeline/entries.ts";
import { readUploadBody } from "../uploads/upload-body.ts";
import type { Uploads } from "../uploads/uploads.ts";
import { isoTime, type PostView, type Views } from "../views.ts";

export interface ApiParts {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly views: Views;
  readonly limits: Limits;
  readonly uploads: Uploads;
  readonly shown: ShownEvents;
}

/** A request that has passed the token, kill switch, rate limit and scope checks. */
export interface Call extends ApiParts {
  readonly bot: User;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Path parameter. Empty if the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly scopes: ReadonlySet<Scope>;
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
}

/**
 * An API operation (section 4 of the platform document). Operations are synchronous, so that a call takes effect
 * completely or not at all. An upload is the exception: it awaits its download, then stores the image in one step.
 */
export interface Operation extends Route {
  readonly method: "GET" | "POST";
  /** Scopes of which the token needs at least one. */
  readonly scopes: readonly Scope[];
  /** Status of a successful response. Default 200. */
  readonly status?: number;
  /** Default: reads up to 1 MB of JSON. */
  readonly read?: (request: Request) => Promise<unknown>;
  readonly handle: (call: Call) => Result | Promise<Result>;
}

export interface Result {
  readonly json: string;
  readonly created?: Created;
  readonly eventIds?: readonly string[];
}

const CONVERSATIONS = "/dm/conversations";
const MESSAGES = "/dm/conversations/:id/messages";
const COMMENTS = "/posts/:id/comments";
const anyWrite: readonly Scope[] = ["posts:write", "comments:write", "dm"];

/**
 * Every API operation. docs/reference/local-platform.md lists the parameters and payloads that the platform document
 * leaves open.
 */
export const operations: Routes<Operation> = new Routes<Operation>([
  { method: "GET", path: "/me", scopes: ["read"], handle: readMe },
  { method: "GET", path: "/users/:username", scopes: ["read"], handle: readUser },
  { method: "GET", path: "/feed", scopes: ["read"], handle: readFeed },
  { method: "GET", path: "/search", scopes: ["read"], handle: search },
  { method: "GET", path: "/posts/:id", scopes: ["read"], handle: readPost },
  { method: "POST", path: "/posts", scopes: ["posts:write"], status: 201, handle: createPost },
  { method: "GET", path: COMMENTS, scopes: ["read"], handle: listComments },
  {
    method: "POST",
    path: COMMENTS,
    scopes: ["comments:write"],
    status: 201,
    handle: createComment,
  },
  { method: "POST", path: "/uploads", scopes: anyWrite, read: readUploadBody, handle: upload },
  { method: "GET", path: CONVERSATIONS, scopes: ["dm"], handle: listConversations },
  { method: "GET", path: MESSAGES, scopes: ["dm"], handle: listMessages },
  { method: "POST", path: MESSAGES, scopes: ["dm"], status: 201, handle: sendMessage },
  { method: "GET", path: "/events", scopes: ["read", "dm"], handle: readEvents },
]);

function json(body: unknown): Result {
  return { json: JSON.stringify(body) };
}

function readMe({ bot, views }: Call): Result {
  return json(views.profile(bot));
}

function readUser({ store, views, id }: Call): Result {
  const user = store.people.find(id.toLowerCase());
  if (user === undefined) throw notFound("user");
  return json(views.profile(user));
}

/**
 * Lists posts. `recent` sorts all posts by time and includes posts by bots, because it is not a recommendation.
 * `trending` sorts by reactions and excludes posts by bots (section 1 of the platform document).
 */
function readFeed(call: Call): Result {
  const sort = text(call.query, "sort") ?? "recent";
  if (sort === "recent") return json(recent(call));
  if (sort === "trending") return json(trending(call));
  throw invalid("sort must be recent or trending");
}

function recent({ store, views, query }: Call): Page<PostView> {
  return page(
    window(query, (cursor) => seqOf("p", cursor)),
    (rows) => store.posts.posts(rows),
    { item: (post) => views.post(post), cursor: (post) => idOf("p", post.seq) },
  );
}

function trending({ store, views, query }: Call): Page<PostView> {
  return page(trendingWindow(query), (rows) => store.posts.trending(rows), {
    item: (post) => views.post(post),
    cursor: (post) => `${post.reactions}.${idOf("p", post.seq)}`,
  });
}

/** Uses a position in the ranking as the cursor instead of a post, because the post may have moved. */
function trendingWindow(query: URLSearchParams): TrendingWindow {
  const cursor = text(query, "cursor");
  const max = Number.MAX_SAFE_INTEGER;
  if (cursor === undefined) return { reactions: max, before: max, limit: limit(query) };
  const [, reactions, id = ""] = /^(\d{1,15})\.(.*)$/.exec(cursor) ?? [];
  const before = seqOf("p", id);
  if (before === undefined) throw badCursor();
  return { reactions: Number(reactions), before, limit: limit(query) };
}

/** Maximum length of `q`, in UTF-16 units. */
const MAX_QUERY = 200;

type Hit = { readonly user: User } | { readonly post: Post };

/** Returns accounts first, then posts, each newest first. */
function search({ store, views, query }: Call): Result {
  const wanted = text(query, "q")?.trim() ?? "";
  if (wanted === "" || wanted.length > MAX_QUERY) {
    throw invalid(`q is required, 1 to ${MAX_QUERY} characters`);
  }
  const cursor = text(query, "cursor") ?? "";
  const amongPosts = seqOf("p", cursor) !== undefined;
  const from = window(query, (id) => seqOf("u", id) ?? seqOf("p", id));
  const found = page(from, (rows) => hits(store, wanted, amongPosts, rows), {
    item: (hit) =>
      "user" in hit ? { type: "user" as const, ...views.profile(hit.user) } : views.post(hit.post),
    cursor: (hit) => ("user" in hit ? idOf("u", hit.user.seq) : idOf("p", hit.post.seq)),
  });
  return json(found);
}

function hits(store: Store, wanted: string, amongPosts: boolean, rows: Window): Hit[] {
  const users = amongPosts ? [] : store.people.search(wanted, rows);
  const posts = store.posts.search(wanted, {
    before: amongPosts ? rows.before : Number.MAX_SAFE_INTEGER,
    limit: rows.limit,
  });
  return [...users.map((user) => ({ user })), ...posts.map((post) => ({ post }))];
}

function readPost(call: Call): Result {
  return json(call.views.post(requirePost(call)));
}

function createPost(call: Call): Result {
  const { store, views, bot, now } = call;
  const { post } = write(call, "postsPerDay", (draft) => {
    return { post: store.posts.addPost({ author: bot.seq, text: draft, at: now }) };
  });
  return { ...json(views.post(post)), created: { postId: idOf("p", post.seq) } };
}

function listComments(call: Call): Result {
  const { store, views, query } = call;
  const post = requirePost(call);
  const comments = page(
    window(query, (cursor) => seqOf("cm", cursor)),
    (rows) => store.posts.comments(post.seq, rows),
    { item: (comment) => views.comment(comment), cursor: (comment) => idOf("cm", comment.seq) },
  );
  return json(comments);
}

function createComment(call: Call): Result {
  const { store, views, bot, now } = call;
  const post = requirePost(call);
  const { comment } = write(call, "commentsPerDay", (draft) => {
    return { comment: store.posts.addComment(post.seq, { author: bot.seq, text: draft, at: now }) };
  });
  return { ...json(views.comment(comment)), created: commentIds(comment) };
}

function requirePost({ store, id }: Call): Post {
  const seq = seqOf("p", id);
  const post = seq === undefined ? undefined : store.posts.post(seq);
  if (post === undefined) throw notFound("post");
  return post;
}

async function upload({ uploads, body, bot, gone }: Call): Promise<Result> {
  return json(await uploads.accept(body, bot, gone));
}

function listConversations({ store, query, views, bot }: Call): Result {
  // The cursor is the conversation's latest message, because a new message moves the conversation to the front.
  const conversations = page(
    window(query, (cursor) => seqOf("m", cursor)),
    (rows) => store.conversations.summaries(bot.seq, rows),
    {
      item: (summary) => views.conversation(summary, bot),
      cursor: (summary) => idOf("m", summary.lastSeq),
    },
  );
  return json(conversations);
}

function listMessages(call: Call): Result {
  const { store, query, views, bot } = call;
  const conversation = botsConversation(call);
  const messages = page(
    window(query, (cursor) => seqOf("m", cursor)),
    (rows) => store.conversations.page(conversation, rows),
    {
      item: (message) => views.message(message, bot),
      cursor: (message) => idOf("m", message.seq),
    },
  );
  return json(messages);
}

function sendMessage(call: Call): Result {
  const { store, bot, now } = call;
  const conversation = botsConversation(call);
  checkPeer(call, conversation);
  const { message } = write(call, "dmsPerDay", (draft) => {
    return { message: store.conversations.addMessage(conversation, bot.seq, draft, now) };
  });
  const created = messageIds(message);
  const { messageId: id, conversationId } = created;
  return { ...json({ id, conversationId, createdAt: isoTime(now) }), created };
}

/** Treats conversations without this bot as if they did not exist (section 5 of the platform document, rule 5). */
function botsConversation({ store, bot, id }: Call): number {
  const seq = seqOf("c", id);
  if (seq === undefined || !store.conversations.hasMember(seq, bot.seq)) {
    throw notFound("conversation");
  }
  return seq;
}

/** @throws {PlatformError} 400 GROUP_UNSUPPORTED; 403 BLOCKED (section 7 of the platform document) */
function checkPeer({ store, bot }: Call, conversation: number): void {
  const peer = store.conversations.peer(conversation, bot.seq);
  if (peer === undefined) {
    throw new PlatformError(400, "GROUP_UNSUPPORTED", "Bots cannot write to groups.");
  }
  if (store.blocks.between(bot.seq, peer)) {
    throw new PlatformError(403, "BLOCKED", "The bot or the user has blocked the other.");
  }
}

function readEvents({ store, shown, query, scopes, bot }: Call): Result {
  const size = limit(query);
  const since = text(query, "since");
  if (since === "") return json({ events: [], cursor: eventId(store.events.presentSeq(bot.seq)) });
  const after = since === undefined ? 0 : eventSeq(since);
  if (after === undefined) throw invalid("since must be an event id or a cursor from GET /events");
  const visible = { dms: scopes.has("dm"), others: scopes.has("read") };
  const events = store.events.page(bot.seq, after, visible, size);
  shown.note(bot.seq, events);
  const eventIds = events.map(({ id }) => id);
  // Without events, return the client's own cursor, so that the client skips no event.
  const cursor = eventIds.at(-1) ?? since ?? BEFORE_FIRST_EVENT;
  const texts = events.map((event) => event.json).join(",");
  return { json: `{"events":[${texts}],"cursor":${JSON.stringify(cursor)}}`, eventIds };
}

interface DraftBody {
  readonly text?: string | null | undefined;
  readonly imageKeys?: readonly string[] | null | undefined;
}

// Ignore unknown fields, because the platform document does not list all fields of posts and comments.
const draftBody: z.ZodType<DraftBody> = z.object({
  text: z.string().nullish(),
  imageKeys: z.array(z.string()).nullish(),
});

/**
 * Creates a post, comment or message from a body (section 4 of the platform document, "Attaching images"). One
 * transaction counts and stores the content, attaches its images and publishes its events.
 *
 * @param make stores the content with this text, which is empty only if there are images
 * @throws {PlatformError} 400 VALIDATION, TOO_MANY_IMAGES, EMPTY, TOO_LONG; 429 QUOTA_EXCEEDED; 400 INVALID_IMAGE_KEY,
 * in which case no key is consumed
 */
function write<T extends Content>(
  { store, publisher, limits, bot, now, body }: Call,
  quota: Quota,
  make: (text: string) => T,
): T {
  const given = validate(draftBody, body);
  const { text: draft, imageKeys } = { text: given.text ?? "", imageKeys: given.imageKeys ?? [] };
  if (imageKeys.length > MAX_IMAGES) {
    throw new PlatformError(400, "TOO_MANY_IMAGES", `At most ${MAX_IMAGES} images are allowed.`);
  }
  checkText(draft, { images: imageKeys.length });
  const { result } = publisher.transaction((events) => {
    limits.take(bot.seq, quota);
    const made = make(draft);
    attachUploads(store.images, imageKeys, { ...targetOf(made), owner: bot.seq, now });
    events.content(made, { from: bot, at: now });
    return made;
  });
  return result;
}
