import { mentionsIn } from "../events/mentions.ts";
import { commentIds, idOf } from "../store/ids.ts";
import type { User } from "../store/people.ts";
import type { Comment } from "../store/posts.ts";
import { type Act, commentNamed, type Outcome, postNamed, postOf, recipientOf } from "./act.ts";

/** Somebody writes a post. It concerns the bots that it mentions. */
export function writePost(act: Act): Outcome {
  return posted(act, { text: act.input.text ?? "Good morning" });
}

/** Somebody mentions a bot: in a comment on the post, or, without one, in a new post. */
export function mentionBot(act: Act): Outcome {
  const { store, input } = act;
  const post = input.postId === undefined ? undefined : postNamed(store, input.postId);
  const bot = recipientOf(act, post?.author);
  const text = withMention(input.text ?? "hello", bot);
  if (post === undefined) return posted(act, { text, meant: bot });
  return commented(act, { post: post.seq, text, meant: bot });
}

/** Somebody comments on a post. */
export function commentOnPost(act: Act): Outcome {
  return commented(act, { post: postOf(act).seq, text: act.input.text ?? "Nice!" });
}

/** Somebody replies to a comment; a bot without one is given one. */
export function replyToComment(act: Act): Outcome {
  const { input } = act;
  const target =
    input.commentId === undefined ? botsComment(act) : commentNamed(act, input.commentId);
  return commented(act, { post: target.post, text: input.text ?? "Really?", replyTo: target.seq });
}

/** Somebody quotes a post in a new post of their own. */
export function quotePost(act: Act): Outcome {
  const { store, write, from, input, at } = act;
  const quoted = postOf(act);
  const text = input.text ?? "Look at this";
  const post = store.posts.addPost({ author: from.seq, text, at }, quoted.seq);
  write.content({ post, quoted }, act);
  return { concerns: { postId: idOf("p", quoted.seq) }, made: { post: post.seq } };
}

function posted(act: Act, { text, meant }: { text: string; meant?: User }): Outcome {
  const { store, write, from, at } = act;
  const post = store.posts.addPost({ author: from.seq, text, at });
  write.content({ post }, act, meant);
  return { concerns: { postId: idOf("p", post.seq) }, made: { post: post.seq } };
}

interface NewComment {
  readonly post: number;
  readonly text: string;
  readonly replyTo?: number;
  readonly meant?: User;
}

function commented(act: Act, { post, text, replyTo, meant }: NewComment): Outcome {
  const { store, write, from, at } = act;
  const comment = store.posts.addComment(post, { author: from.seq, text, at }, replyTo);
  write.content({ comment }, act, meant);
  return { concerns: commentIds(comment), made: { comment: comment.seq } };
}

function botsComment(act: Act): Comment {
  const { posts } = act.store;
  const bot = recipientOf(act);
  const welcome = { author: bot.seq, text: "Welcome!", at: act.at };
  return posts.newestComment(bot.seq) ?? posts.addComment(postOf(act).seq, welcome);
}

function withMention(text: string, { username }: User): string {
  return mentionsIn(text).has(username) ? text : `@${username} ${text}`.trimEnd();
}
