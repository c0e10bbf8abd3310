import { beginningOf } from "../input-rules.ts";
import type { Message } from "../store/conversations.ts";
import type { NewEvent } from "../store/event-log.ts";
import { commentIds, idOf } from "../store/ids.ts";
import type { Target } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";
import type { Store } from "../store/store.ts";

/** Content that an account has written. */
export type Content =
  | { readonly post: Post; readonly quoted?: Post }
  | { readonly comment: Comment }
  | { readonly message: Message };

/** An event for one bot. */
export interface Notice {
  readonly recipient: User;
  readonly event: NewEvent;
}

/** Reason why content concerns an account. */
interface Claim {
  readonly user: User;
  readonly type: "mention" | "comment" | "reply" | "quote";
}

/** Excerpts are cut to this many characters (code points). The document names no length. */
const EXCERPT_LENGTH = 200;

export function targetOf(content: Content): Target {
  if ("post" in content) return { post: content.post.seq };
  if ("comment" in content) return { comment: content.comment.seq };
  return { message: content.message.seq };
}

/** The id and the whole text of content, as the timeline has them. */
export function entryOf(content: Content): { readonly contentId: string; readonly text: string } {
  const prefix = "post" in content ? "p" : "comment" in content ? "cm" : "m";
  const { seq, text } = writtenIn(content);
  return { contentId: idOf(prefix, seq), text };
}

/**
 * Lists the events that content makes, by any author and operation (section 6). The conditions do not exclude each
 * other: a bot gets one event of each type that applies, in the order reply, comment, quote, mention. Events for the
 * author are among them.
 *
 * @param meant the bot that the content is to be a mention of, before anything else
 */
export function noticesOf(store: Store, content: Content, meant?: User): Notice[] {
  if ("message" in content) return messageNotices(store, content.message);
  const claims = [...(meant === undefined ? [] : [mention(meant)]), ...claimsOf(store, content)];
  for (const username of mentionsIn(writtenIn(content).text)) {
    const user = store.people.find(username);
    if (user !== undefined) claims.push(mention(user));
  }
  const chosen = new Map<string, Notice>();
  for (const { user, type } of claims) {
    if (!user.isBot || chosen.has(`${user.seq} ${type}`)) continue;
    const event = { type, payload: payloadOf(content, type) };
    chosen.set(`${user.seq} ${type}`, { recipient: user, event });
  }
  return [...chosen.values()];
}

/** Events for both members of a conversation of two, as far as they are bots. */
function messageNotices({ people, conversations }: Store, message: Message): Notice[] {
  const peer = conversations.peer(message.conversation, message.author);
  if (peer === undefined) return [];
  const recipients = [peer, message.author].map((seq) => people.get(seq));
  const { author, authorUsername: username, authorName: name, text } = message;
  const payload = {
    conversationId: idOf("c", message.conversation),
    from: { userId: idOf("u", author), username, name },
    excerpt: beginningOf(text, EXCERPT_LENGTH),
  };
  return recipients
    .filter(({ isBot }) => isBot)
    .map((recipient) => ({ recipient, event: { type: "dm.message", payload } }));
}

/** Returns the accounts that content concerns by its place, the strongest reason first. */
function claimsOf({ people, posts }: Store, content: PostOrComment): Claim[] {
  if ("post" in content) {
    const { quoted } = content;
    return quoted === undefined ? [] : [{ user: people.get(quoted.author), type: "quote" }];
  }
  const { replyTo, post } = content.comment;
  const answered = replyTo === null ? undefined : posts.comment(replyTo);
  const below = posts.post(post);
  const claims: Claim[] = [];
  if (answered !== undefined) claims.push({ user: people.get(answered.author), type: "reply" });
  if (below !== undefined) claims.push({ user: people.get(below.author), type: "comment" });
  return claims;
}

type PostOrComment = Exclude<Content, { readonly message: Message }>;

/** `entityType` and `entityId` name what was written. The document shows neither, see docs/reference/local-platform.md. */
function payloadOf(content: PostOrComment, type: Claim["type"]) {
  const { authorUsername: username, authorName: name, text } = writtenIn(content);
  return {
    actor: { username, name },
    ...placeOf(content, type),
    // Optional (section 6): images alone have no text to show.
    ...(text === "" ? {} : { excerpt: beginningOf(text, EXCERPT_LENGTH) }),
  };
}

function placeOf(content: PostOrComment, type: Claim["type"]) {
  if ("comment" in content) {
    const ids = commentIds(content.comment);
    return { entityType: "comment", entityId: ids.commentId, ...ids };
  }
  const { post, quoted } = content;
  const entityId = idOf("p", post.seq);
  const concerned = type === "quote" && quoted !== undefined ? quoted : post;
  return { entityType: "post", entityId, postId: idOf("p", concerned.seq) };
}

function mention(user: User): Claim {
  return { user, type: "mention" };
}

function writtenIn(content: Content): Post | Comment | Message {
  if ("post" in content) return content.post;
  return "comment" in content ? content.comment : content.message;
}

/**
 * An `@` that begins a word, and all that can be part of a username after it. Dots and dashes at the end
 * belong to the sentence.
 */
const MENTION = /(?<![\w./@])@(\w(?:[\w.-]*\w)?)/g;

/** The usernames that a text mentions, in lower case, each once, in the order of the text. */
export function mentionsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(MENTION)].map(([, username = ""]) => username.toLowerCase()));
}
