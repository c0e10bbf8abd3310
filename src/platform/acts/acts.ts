import { readFileSync } from "node:fs";
import type { Clock } from "../../core/clock.ts";
import { appNamed, profileOf } from "../accounts.ts";
import { invalid, notFound, PlatformError } from "../error.ts";
import { mentionsIn } from "../events/content.ts";
import type { EventWriter, Publisher } from "../events/publisher.ts";
import { usernameIn } from "../input-rules.ts";
import { commentIds, idOf, messageIds, seqOf } from "../store/ids.ts";
import { attachUploads, type NewImage, newImageFile, type Target } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";
import type { Store } from "../store/store.ts";
import type { Created } from "../timeline/entries.ts";
import { type ActInput, type ActResult, type ActType, checkAct, isActType } from "./input.ts";

const performers: { readonly [T in ActType]: (act: Act) => Outcome } = {
  post: writePost,
  "dm.message": sendMessage,
  mention: mentionBot,
  comment: commentOnPost,
  reply: replyToComment,
  follow: followBot,
  like: likeContent,
  repost: repostPost,
  quote: quotePost,
};

export interface ActsOptions {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly clock: Clock;
}

/** Actions by users, and actions by bots that the API does not offer. */
export class Acts {
  readonly #options: ActsOptions;

  constructor(options: ActsOptions) {
    this.#options = options;
  }

  /**
   * Performs an action `count` times (by default once) in one transaction.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG, INVALID_IMAGE_KEY; 403 BLOCKED; 404 NOT_FOUND
   */
  perform(input: ActInput): ActResult {
    checkAct(input);
    const username = usernameIn(input.from, "from");
    const { store, publisher, clock } = this.#options;
    const { result, events } = publisher.transaction((write) => {
      const from = store.people.findOrCreate(username);
      const to = input.to === undefined ? undefined : appNamed(store, input.to, "to");
      let concerns: Created = {};
      for (let time = 0; time < (input.count ?? 1); time += 1) {
        concerns = once({ store, write, from, to, input, at: clock.now() });
      }
      return concerns;
    });
    return { events, ...result };
  }
}

function once(act: Act): Created {
  const { type } = act.input;
  const { concerns, made } = (isActType(type) ? performers[type] : inventedEvent)(act);
  if (made !== undefined) attachImages(act, made);
  return concerns;
}

/** Writes a post. Every bot mentioned in it gets an event. */
function writePost(act: Act): Outcome {
  return posted(act, { text: act.input.text ?? "Good morning" });
}

function mentionBot(act: Act): Outcome {
  const { store, input } = act;
  const post = input.postId === undefined ? undefined : postNamed(store, input.postId);
  const bot = recipientOf(act, post?.author);
  const text = withMention(input.text ?? "hello", bot);
  if (post === undefined) return posted(act, { text, meant: bot });
  return commented(act, { post: post.seq, text, meant: bot });
}

function commentOnPost(act: Act): Outcome {
  return commented(act, { post: postOf(act).seq, text: act.input.text ?? "Nice!" });
}

/** Replies to a comment. If the bot has not written any comment, it writes one first. */
function replyToComment(act: Act): Outcome {
  const { input } = act;
  const target =
    input.commentId === undefined ? botsComment(act) : commentNamed(act, input.commentId);
  return commented(act, { post: target.post, text: input.text ?? "Really?", replyTo: target.seq });
}

function quotePost(act: Act): Outcome {
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

function sendMessage(act: Act): Outcome {
  const { store, write, from, input, at } = act;
  const text = input.text ?? "Hello!";
  const conversation = conversationOf(act);
  const message = store.conversations.addMessage(conversation, from.seq, text, at);
  write.content({ message }, act);
  return { concerns: messageIds(message), made: { message: message.seq } };
}

/**
 * Returns the conversation between the sender and the bot. Throws if `conversationId` names a different conversation.
 */
function conversationOf(act: Act): number {
  const { store, from, input } = act;
  const { people, blocks, conversations } = store;
  const named = input.conversationId === undefined ? undefined : namedConversation(act);
  const bot = named === undefined ? recipientOf(act) : people.get(named.peer);
  if (blocks.between(from.seq, bot.seq)) {
    throw new PlatformError(403, "BLOCKED", "The bot or the user has blocked the other.");
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
    throw notFound(`conversation between ${from.username} and a bot: ${conversationId}`);
  }
  if (to === undefined || to.seq === peer) return { seq, peer };
  const other = store.people.get(peer).username;
  throw invalid(`${conversationId} is with ${other}, not with ${to.username}`);
}

// A follow, like or repost creates no content, so `entityType` and `entityId` name the target. The platform document
// leaves both open (docs/reference/local-platform.md).

function followBot(act: Act): Outcome {
  const recipient = recipientOf(act);
  const entity = { entityType: "user", entityId: idOf("u", recipient.seq) };
  act.write.notice(
    { recipient, event: { type: "follow", payload: { actor: profileOf(act.from), ...entity } } },
    act,
  );
  return { concerns: {} };
}

function likeContent(act: Act): Outcome {
  const { commentId } = act.input;
  if (commentId === undefined) return reactToPost("like", act);
  const comment = commentNamed(act, commentId);
  const concerns = commentIds(comment);
  notifyOwner("like", act, comment, { entityType: "comment", entityId: commentId, ...concerns });
  return { concerns };
}

function repostPost(act: Act): Outcome {
  return reactToPost("repost", act);
}

function inventedEvent(act: Act): Outcome {
  const { type, payload = {} } = act.input;
  act.write.notice({ recipient: recipientOf(act), event: { type, payload } }, act);
  return { concerns: {} };
}

function reactToPost(type: "like" | "repost", act: Act): Outcome {
  const post = postOf(act);
  act.store.posts.react(post.seq, type);
  const postId = idOf("p", post.seq);
  notifyOwner(type, act, post, { entityType: "post", entityId: postId, postId });
  return { concerns: { postId } };
}

interface Place {
  readonly entityType: string;
  readonly entityId: string;
  readonly postId: string;
}

function notifyOwner(
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

interface Act {
  readonly store: Store;
  readonly write: EventWriter;
  readonly from: User;
  /** The target bot, or `undefined` if the input has no `to`. */
  readonly to: User | undefined;
  readonly input: ActInput;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface Outcome {
  readonly concerns: Created;
  readonly made?: Target;
}

/** Returns the bot named in the input, otherwise the bot that owns the content, otherwise the first bot. */
function recipientOf({ store, from, to }: Act, owner?: number): User {
  const ownerBot = owner === undefined || owner === from.seq ? undefined : store.people.get(owner);
  const recipient = to ?? (ownerBot?.isBot === true ? ownerBot : store.people.bot());
  if (recipient.seq !== from.seq) return recipient;
  const what = `${from.username} cannot act on its own account`;
  throw invalid(`${what}; set "from" or "to" to a different account`);
}

/** Returns the named post by any author, or the target bot's newest post. */
function postOf(act: Act): Post {
  const { store, input } = act;
  if (input.postId === undefined) {
    const recipient = recipientOf(act);
    const post = store.posts.newestPost(recipient.seq);
    if (post !== undefined) return post;
    const { username } = recipient;
    const message = `${username} has no posts. Create one with the post action.`;
    throw new PlatformError(404, "NOT_FOUND", message);
  }
  return requireOwner(act, postNamed(store, input.postId), input.postId);
}

function commentNamed(act: Act, commentId: string): Comment {
  const seq = seqOf("cm", commentId);
  const comment = seq === undefined ? undefined : act.store.posts.comment(seq);
  if (comment === undefined) throw notFound(`comment: ${commentId}`);
  return requireOwner(act, comment, commentId);
}

function postNamed({ posts }: Store, postId: string): Post {
  const seq = seqOf("p", postId);
  const post = seq === undefined ? undefined : posts.post(seq);
  if (post === undefined) throw notFound(`post: ${postId}`);
  return post;
}

/** Throws if `to` is not the content's author. */
function requireOwner<T extends Post | Comment>({ to }: Act, content: T, id: string): T {
  if (to === undefined || content.author === to.seq) return content;
  throw invalid(`${id} belongs to ${content.authorUsername}, not to ${to.username}`);
}

/** A drawing of 640 × 480 pixels and its preview, attached if the input asks for images. */
interface Sample {
  readonly data: Buffer;
  readonly thumbnail: Buffer;
}

let sample: Sample | undefined;

function attachImages({ store, from, input, at }: Act, target: Target): void {
  const { images = 0, imageKeys = [] } = input;
  attachUploads(store.images, imageKeys, { ...target, owner: from.seq, now: at });
  for (let position = imageKeys.length; position < imageKeys.length + images; position += 1) {
    store.images.addTo(target, sampleImage(from.seq, at), position);
  }
}

function sampleImage(owner: number, at: number): NewImage {
  sample ??= { data: read("sample.png"), thumbnail: read("sample.thumb.webp") };
  return { ...sample, file: newImageFile("png"), owner, kind: "png", width: 640, height: 480, at };
}

function read(name: string): Buffer {
  return readFileSync(new URL(name, import.meta.url));
}
