import { notFound } from "../error.ts";
import { page, window } from "../http/query.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { Post } from "../store/posts.ts";
import { readText } from "./draft.ts";
import type { Call, CallAnswer, Route } from "./route.ts";
import { commentView, postView } from "./views.ts";

const COMMENTS = "/posts/:id/comments";

/** Posts and comments (section 4). Parameters and answers are not shown; docs/platform.md has ours. */
export const postRoutes: readonly Route[] = [
  { method: "post", path: "/posts", scopes: ["posts:write"], handle: createPost },
  { method: "get", path: "/feed", scopes: ["read"], handle: readFeed },
  { method: "get", path: "/posts/:id", scopes: ["read"], handle: readPost },
  { method: "get", path: COMMENTS, scopes: ["read"], handle: listComments },
  { method: "post", path: COMMENTS, scopes: ["comments:write"], handle: createComment },
];

function createPost({ store, body, now }: Call): CallAnswer {
  const text = readText(body);
  const post = store.posts.addPost({ author: store.people.bot().seq, text, at: now });
  return { status: 201, body: postView(post), created: { postId: idOf("p", post.seq) } };
}

function readFeed({ store, query }: Call): CallAnswer {
  const body = page(
    window(query, (cursor) => seqOf("p", cursor)),
    (rows) => store.posts.posts(rows),
    { item: postView, cursor: (post) => idOf("p", post.seq) },
  );
  return { status: 200, body };
}

function readPost(call: Call): CallAnswer {
  return { status: 200, body: postView(namedPost(call)) };
}

function listComments(call: Call): CallAnswer {
  const { store, query } = call;
  const post = namedPost(call);
  const body = page(
    window(query, (cursor) => seqOf("cm", cursor)),
    (rows) => store.posts.comments(post.seq, rows),
    { item: commentView, cursor: (comment) => idOf("cm", comment.seq) },
  );
  return { status: 200, body };
}

function createComment(call: Call): CallAnswer {
  const { store, body, now } = call;
  const post = namedPost(call);
  const text = readText(body);
  const author = store.people.bot().seq;
  const comment = store.posts.addComment(post.seq, { author, text, at: now });
  const created = { postId: idOf("p", post.seq), commentId: idOf("cm", comment.seq) };
  return { status: 201, body: commentView(comment), created };
}

function namedPost({ store, id }: Call): Post {
  const seq = seqOf("p", id);
  const post = seq === undefined ? undefined : store.posts.post(seq);
  if (post === undefined) throw notFound("post");
  return post;
}
