import { invalid, notFound } from "../error.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";
import { type Act, excerpt, type Outcome } from "./outcome.ts";

// `entityType` and `entityId` name what the act made (a post, a comment); where it makes nothing,
// what it was done to. The document shows neither, see docs/platform.md.

/** A person mentions the bot: in a comment on the post, or, without one, in a new post. */
export function mentionBot({ store, person, bot, input, at }: Act): Outcome {
  const text = withMention(input.text ?? "hello", bot);
  const draft = { author: person.seq, text, at };
  if (input.postId !== undefined) {
    const post = postById(store.posts, input.postId);
    return commented("mention", person, store.posts.addComment(post.seq, draft));
  }
  const { seq } = store.posts.addPost(draft);
  const postId = idOf("p", seq);
  const entity = { entityType: "post", entityId: postId, postId };
  const payload = { actor: actor(person), ...entity, excerpt: excerpt(text) };
  const made = { post: seq };
  return { event: { type: "mention", payload }, text, concerns: { postId }, made };
}

/** A person comments on the bot's post. */
export function commentOnPost(act: Act): Outcome {
  const { store, person, input, at } = act;
  const draft = { author: person.seq, text: input.text ?? "Nice!", at };
  return commented("comment", person, store.posts.addComment(botsPost(act).seq, draft));
}

/** A person replies to the bot's comment; the bot is given one if it has none. */
export function replyToComment(act: Act): Outcome {
  const { store, person, bot, input, at } = act;
  const target =
    input.commentId === undefined
      ? (store.posts.newestComment(bot.seq) ?? seedComment(act))
      : botsComment(act, input.commentId);
  const draft = { author: person.seq, text: input.text ?? "Really?", at };
  return commented("reply", person, store.posts.addComment(target.post, draft, target.seq));
}

/** A person follows the bot. */
export function followBot({ person, bot }: Act): Outcome {
  const payload = { actor: actor(person), entityType: "user", entityId: idOf("u", bot.seq) };
  return { event: { type: "follow", payload }, concerns: {} };
}

/** A person likes the bot's post or comment. */
export function likeContent(act: Act): Outcome {
  const { person, input } = act;
  if (input.commentId !== undefined) {
    const { seq, post } = botsComment(act, input.commentId);
    const concerns = { postId: idOf("p", post), commentId: idOf("cm", seq) };
    const entity = { entityType: "comment", entityId: concerns.commentId };
    const payload = { actor: actor(person), ...entity, ...concerns };
    return { event: { type: "like", payload }, concerns };
  }
  return toPost("like", act);
}

/** A person reposts the bot's post. */
export function repostPost(act: Act): Outcome {
  return toPost("repost", act);
}

/** A person quotes the bot's post in a new post of their own. */
export function quotePost(act: Act): Outcome {
  const { store, person, input, at } = act;
  const quoted = botsPost(act);
  const text = input.text ?? "Look at this";
  const made = store.posts.addPost({ author: person.seq, text, at });
  const entity = { entityType: "post", entityId: idOf("p", made.seq) };
  const concerns = { postId: idOf("p", quoted.seq) };
  const payload = { actor: actor(person), ...entity, ...concerns, excerpt: excerpt(text) };
  return { event: { type: "quote", payload }, text, concerns, made: { post: made.seq } };
}

function commented(type: "mention" | "comment" | "reply", by: User, comment: Comment): Outcome {
  const concerns = { postId: idOf("p", comment.post), commentId: idOf("cm", comment.seq) };
  const entity = { entityType: "comment", entityId: concerns.commentId };
  const payload = { actor: actor(by), ...entity, ...concerns, excerpt: excerpt(comment.text) };
  const made = { comment: comment.seq };
  return { event: { type, payload }, text: comment.text, concerns, made };
}

function toPost(type: "like" | "repost", act: Act): Outcome {
  const postId = idOf("p", botsPost(act).seq);
  const payload = { actor: actor(act.person), entityType: "post", entityId: postId, postId };
  return { event: { type, payload }, concerns: { postId } };
}

/** The post that was named, or the bot's newest. */
function botsPost({ store, bot, input: { postId } }: Act): Post {
  const post =
    postId === undefined ? store.posts.newestPost(bot.seq) : postById(store.posts, postId);
  if (post === undefined) throw notFound("post of the bot");
  if (post.author !== bot.seq) throw invalid(`${postId} is not a post of the bot`);
  return post;
}

function botsComment({ store, bot }: Act, commentId: string): Comment {
  const seq = seqOf("cm", commentId);
  const comment = seq === undefined ? undefined : store.posts.comment(seq);
  if (comment === undefined) throw notFound(`comment: ${commentId}`);
  if (comment.author !== bot.seq) throw invalid(`${commentId} is not a comment of the bot`);
  return comment;
}

function seedComment(act: Act): Comment {
  const { store, bot, at } = act;
  return store.posts.addComment(botsPost(act).seq, { author: bot.seq, text: "Welcome!", at });
}

function postById(posts: Act["store"]["posts"], postId: string): Post {
  const seq = seqOf("p", postId);
  const post = seq === undefined ? undefined : posts.post(seq);
  if (post === undefined) throw notFound(`post: ${postId}`);
  return post;
}

function withMention(text: string, bot: User): string {
  const mentioned = text.toLowerCase().includes(`@${bot.username}`);
  return mentioned ? text : `@${bot.username} ${text}`.trimEnd();
}

function actor({ username, name }: User): { username: string; name: string } {
  return { username, name };
}
