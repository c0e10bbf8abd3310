import { profileOf } from "../apps/shapes.ts";
import { invalid, notFound, PlatformError } from "../error.ts";
import { mentionsIn } from "../events/content.ts";
import { commentIds, idOf, messageIds, seqOf } from "../store/ids.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";
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

/** Somebody sends a bot a direct message. */
export function sendMessage(act: Act): Outcome {
  const { store, write, from, input, at } = act;
  const text = input.text ?? "Hello!";
  const conversation = conversationOf(act);
  const message = store.conversations.addMessage(conversation, from.seq, text, at);
  write.content({ message }, act);
  return { concerns: messageIds(message), made: { message: message.seq } };
}

/** The one conversation of the sender with the bot; a `conversationId` must name that one. */
function conversationOf(act: Act): number {
  const { store, from, input } = act;
  const { people, blocks, conversations } = store;
  const named = input.conversationId === undefined ? undefined : namedConversation(act);
  const bot = named === undefined ? recipientOf(act) : people.get(named.peer);
  if (blocks.between(from.seq, bot.seq)) {
    throw new PlatformError(403, "BLOCKED", "One of the two has blocked the other.");
  }
  return named?.seq ?? conversations.between(from.seq, bot.seq);
}

function namedConversation({ store, from, to, input: { conversationId = "" } }: Act): {
  readonly seq: number;
  readonly peer: number;
} {
  const seq = seqOf("c", conversationId);
  const peer = seq === undefined ? undefined : store.conversations.peer(seq, from.seq);
  if (seq === undefined || peer === undefined || !store.people.get(peer).isBot) {
    throw notFound(`conversation of ${from.username} with a bot: ${conversationId}`);
  }
  if (to === undefined || to.seq === peer) return { seq, peer };
  const other = store.people.get(peer).username;
  throw invalid(`${conversationId} is with ${other}, not with ${to.username}`);
}

// `entityType` and `entityId` name what the act was done to: it makes nothing of its own. The document shows
// neither, see docs/platform.md.

/** Somebody follows a bot. */
export function followBot(act: Act): Outcome {
  const recipient = recipientOf(act);
  const entity = { entityType: "user", entityId: idOf("u", recipient.seq) };
  act.write.notice(
    { recipient, event: { type: "follow", payload: { actor: profileOf(act.from), ...entity } } },
    act,
  );
  return { concerns: {} };
}

/** Somebody likes a post or a comment. */
export function likeContent(act: Act): Outcome {
  const { commentId } = act.input;
  if (commentId === undefined) return reactToPost("like", act);
  const comment = commentNamed(act, commentId);
  const concerns = commentIds(comment);
  tellOwner("like", act, comment, { entityType: "comment", entityId: commentId, ...concerns });
  return { concerns };
}

/** Somebody reposts a post. */
export function repostPost(act: Act): Outcome {
  return reactToPost("repost", act);
}

/** An event of a type that nobody knows yet, with whatever it was said to hold. */
export function inventedEvent(act: Act): Outcome {
  const { type, payload = {} } = act.input;
  act.write.notice({ recipient: recipientOf(act), event: { type, payload } }, act);
  return { concerns: {} };
}

function reactToPost(type: "like" | "repost", act: Act): Outcome {
  const post = postOf(act);
  act.store.posts.react(post.seq, type);
  const postId = idOf("p", post.seq);
  tellOwner(type, act, post, { entityType: "post", entityId: postId, postId });
  return { concerns: { postId } };
}

interface Place {
  readonly entityType: string;
  readonly entityId: string;
  readonly postId: string;
}

/** People need no event. */
function tellOwner(
  type: "like" | "repost",
  act: Act,
  { author }: Pick<Post, "author">,
  place: Place,
): void {
  const recipient = act.store.people.get(author);
  if (!recipient.isBot) return;
  act.write.notice(
    { recipient, event: { type, payload: { actor: profileOf(act.from), ...place } } },
    act,
  );
}
