import { invalid, notFound } from "../error.ts";
import { badCursor, limit, type Page, page, text, window } from "../http/query.ts";
import { commentIds, idOf, seqOf } from "../store/ids.ts";
import type { Post, TrendingWindow } from "../store/posts.ts";
import type { Call, CallAnswer, Operation } from "./operation.ts";
import type { PostView } from "./shapes.ts";
import { readDraft, write } from "./writing.ts";

const COMMENTS = "/posts/:id/comments";

/** Posts and comments (section 4). Parameters and answers are not shown; docs/platform.md has ours. */
export const postOperations: readonly Operation[] = [
  { method: "POST", path: "/posts", scopes: ["posts:write"], handle: createPost },
  { method: "GET", path: "/feed", scopes: ["read"], handle: readFeed },
  { method: "GET", path: "/posts/:id", scopes: ["read"], handle: readPost },
  { method: "GET", path: COMMENTS, scopes: ["read"], handle: listComments },
  { method: "POST", path: COMMENTS, scopes: ["comments:write"], handle: createComment },
];

function createPost(call: Call): CallAnswer {
  const { store, views, bot, now } = call;
  const draft = readDraft(call);
  const { post } = write(call, draft, {
    quota: "postsPerDay",
    make: () => ({ post: store.posts.addPost({ author: bot.seq, text: draft.text, at: now }) }),
  });
  return { status: 201, body: views.post(post), created: { postId: idOf("p", post.seq) } };
}

/**
 * `recent`: all posts in the order of time. That is no recommendation, so what bots write is in it.
 * `trending`: what people react to most, where the posts of bots have no place (section 1).
 */
function readFeed(call: Call): CallAnswer {
  const sort = text(call.query, "sort") ?? "recent";
  if (sort === "recent") return { status: 200, body: recent(call) };
  if (sort === "trending") return { status: 200, body: trending(call) };
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

/** The position is a place in the order: the post that stood there may have moved on. */
function trendingWindow(query: URLSearchParams): TrendingWindow {
  const cursor = text(query, "cursor");
  const max = Number.MAX_SAFE_INTEGER;
  if (cursor === undefined) return { reactions: max, before: max, limit: limit(query) };
  const [, reactions, id = ""] = /^(\d{1,15})\.(.*)$/.exec(cursor) ?? [];
  const before = seqOf("p", id);
  if (before === undefined) throw badCursor();
  return { reactions: Number(reactions), before, limit: limit(query) };
}

function readPost(call: Call): CallAnswer {
  return { status: 200, body: call.views.post(namedPost(call)) };
}

function listComments(call: Call): CallAnswer {
  const { store, views, query } = call;
  const post = namedPost(call);
  const body = page(
    window(query, (cursor) => seqOf("cm", cursor)),
    (rows) => store.posts.comments(post.seq, rows),
    { item: (comment) => views.comment(comment), cursor: (comment) => idOf("cm", comment.seq) },
  );
  return { status: 200, body };
}

function createComment(call: Call): CallAnswer {
  const { store, views, bot, now } = call;
  const post = namedPost(call);
  const draft = readDraft(call);
  const own = { author: bot.seq, text: draft.text, at: now };
  const { comment } = write(call, draft, {
    quota: "commentsPerDay",
    make: () => ({ comment: store.posts.addComment(post.seq, own) }),
  });
  return { status: 201, body: views.comment(comment), created: commentIds(comment) };
}

function namedPost({ store, id }: Call): Post {
  const seq = seqOf("p", id);
  const post = seq === undefined ? undefined : store.posts.post(seq);
  if (post === undefined) throw notFound("post");
  return post;
}
