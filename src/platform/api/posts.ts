import { notFound } from "../error.ts";
import { page, window } from "../http/query.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { Post } from "../store/posts.ts";
import { readDraft } from "./draft.ts";
import type { Call, CallAnswer, Route } from "./route.ts";
import { write } from "./write.ts";

const COMMENTS = "/posts/:id/comments";

/** Posts and comments (section 4). Parameters and answers are not shown; docs/platform.md has ours. */
export const postRoutes: readonly Route[] = [
  { method: "post", path: "/posts", scopes: ["posts:write"], handle: createPost },
  { method: "get", path: "/feed", scopes: ["read"], handle: readFeed },
  { method: "get", path: "/posts/:id", scopes: ["read"], handle: readPost },
  { method: "get", path: COMMENTS, scopes: ["read"], handle: listComments },
  { method: "post", path: COMMENTS, scopes: ["comments:write"], handle: createComment },
];

function createPost(call: Call): CallAnswer {
  const { store, views, body, bot, now } = call;
  const draft = readDraft(body);
  const post = write(call, draft, {
    quota: "postsPerDay",
    make: () => store.posts.addPost({ author: bot.seq, text: draft.text, at: now }),
    target: (seq) => ({ post: seq }),
  });
  return { status: 201, body: views.post(post), created: { postId: idOf("p", post.seq) } };
}

/**
 * All posts in the order of time. That is no recommendation, so the bot's own are there (section 1).
 */
function readFeed({ store, views, query }: Call): CallAnswer {
  const body = page(
    window(query, (cursor) => seqOf("p", cursor)),
    (rows) => store.posts.posts(rows),
    { item: (post) => views.post(post), cursor: (post) => idOf("p", post.seq) },
  );
  return { status: 200, body };
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
  const { store, views, body, bot, now } = call;
  const post = namedPost(call);
  const draft = readDraft(body);
  const comment = write(call, draft, {
    quota: "commentsPerDay",
    make: () => store.posts.addComment(post.seq, { author: bot.seq, text: draft.text, at: now }),
    target: (seq) => ({ comment: seq }),
  });
  const created = { postId: idOf("p", post.seq), commentId: idOf("cm", comment.seq) };
  return { status: 201, body: views.comment(comment), created };
}

function namedPost({ store, id }: Call): Post {
  const seq = seqOf("p", id);
  const post = seq === undefined ? undefined : store.posts.post(seq);
  if (post === undefined) throw notFound("post");
  return post;
}
