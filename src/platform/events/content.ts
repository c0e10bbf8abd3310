import { beginningOf } from "../input-rules.ts";
import type { Message } from "../store/conversations.ts";
import type { NewEvent } from "../store/event-log.ts";
import { commentIds, idOf } from "../store/ids.ts";
import type { Target } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";
import type { Store } from "../store/store.ts";

export type Content =
  | { readonly post: Post; readonly quoted?: Post }
  | { readonly comment: Comment }
  | { readonly message: Message };

export interface Notice {
  readonly recipient: User;
  readonly event: NewEvent;
}

/** A reason to notify an account. */
interface Claim {
  readonly user: User;
  readonly type: "mention" | "comment" | "reply" | "quote";
}

/** In code points. The platform document does not specify a length. */
const EXCERPT_LENGTH = 200;

export function targetOf(content: Content): Target {
  if ("post" in content) return { post: content.post.seq };
  if ("comment" in content) return { comment: content.comment.seq };
  return { message: content.message.seq };
}

export function entryOf(content: Content): { readonly contentId: string; readonly text: string } {
  const prefix = "post" in content ? "p" : "comment" in content ? "cm" : "m";
  const { seq, text } = unwrapContent(content);
  return { contentId: idOf(prefix, seq), text };
}

/**
 * Returns the events caused by a post, comment or message (section 6 of the platform document). A bot gets one event of
 * each type that applies, in the order reply, comment, quote, mention. The list includes events for the author.
 *
 * @param meant bot to mention even if the text does not name it; its mention comes before all other events
 */
export function noticesOf(store: Store, content: Content, meant?: User): Notice[] {
  if ("message" in content) return messageNotices(store, content.message);
  const claims = [...(meant === undefined ? [] : [mention(meant)]), ...claimsOf(store, content)];
  for (const username of mentionsIn(unwrapContent(content).text)) {
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

/** Returns the authors to notify about a reply, comment or quote, in order of priority. */
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

/**
 * Names the new content in `entityType` and `entityId`. The platform document leaves both open
 * (docs/reference/local-platform.md).
 */
function payloadOf(content: PostOrComment, type: Claim["type"]) {
  const { authorUsername: username, authorName: name, text } = unwrapContent(content);
  return {
    actor: { username, name },
    ...entityOf(content, type),
    // `excerpt` is optional (section 6 of the platform document). Omit it if the content has only images.
    ...(text === "" ? {} : { excerpt: beginningOf(text, EXCERPT_LENGTH) }),
  };
}

function entityOf(content: PostOrComment, type: Claim["type"]) {
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

function unwrapContent(content: Content): Post | Comment | Message {
  if ("post" in content) return content.post;
  return "comment" in content ? content.comment : content.message;
}

/** Matches an `@` at the start of a word, and the username after it. Trailing dots and dashes count as punctuation. */
const MENTION = /(?<![\w./@])@(\w(?:[\w.-]*\w)?)/g;

export function mentionsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(MENTION)].map(([, username = ""]) => username.toLowerCase()));
}
