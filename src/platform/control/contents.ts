import { invalid, notFound } from "../error.ts";
import {
  limit as limitIn,
  type Page,
  type PageInput,
  page,
  pageQuery,
  window,
} from "../http/query.ts";
import { usernameIn } from "../input-rules.ts";
import type { ConversationRow, Message } from "../store/conversations.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { CountedPost } from "../store/posts.ts";
import type { Store } from "../store/store.ts";
import { isoTime, type Views } from "../views.ts";
import type { State } from "../world.ts";
import type {
  ControlComment,
  ControlConversation,
  ControlMessage,
  ControlPost,
  ConversationsInput,
  MessagesInput,
  MessagesPage,
} from "./shapes.ts";

const NEWEST = Number.MAX_SAFE_INTEGER;

/** Reads and deletes content by any account. Only the control API uses this class. */
export class Contents {
  readonly #state: State;

  /** @internal */
  constructor(state: State) {
    this.#state = state;
  }

  /** Lists the conversations of all users, or of one user, sorted by latest message. */
  conversations({ of, ...input }: ConversationsInput = {}): Page<ControlConversation> {
    const user = of === undefined ? undefined : this.#store.people.find(usernameIn(of, "of"));
    // A user does not exist before their first action, so they have no conversations.
    if (of !== undefined && user === undefined) return { items: [], nextCursor: null };
    return page(
      window(pageQuery(input), (cursor) => seqOf("m", cursor)),
      (rows) => this.#store.conversations.latest(rows, user?.seq),
      { item: (row) => this.#conversation(row), cursor: ({ lastSeq }) => idOf("m", lastSeq) },
    );
  }

  /** Lists all messages in a conversation, oldest first. */
  messages(conversationId: string): readonly ControlMessage[] {
    const seq = seqOf("c", conversationId);
    const messages = seq === undefined ? [] : this.#store.conversations.all(seq);
    if (messages.length === 0) throw notFound("conversation");
    return messages.map((message) => this.#message(message));
  }

  /**
   * Lists a conversation's newest messages, or the messages before `before`. The oldest message on the page comes
   * first.
   */
  messagesPage(conversationId: string, { limit, before }: MessagesInput = {}): MessagesPage {
    const { conversations } = this.#store;
    const seq = seqOf("c", conversationId);
    // A conversation is created together with its first message.
    if (seq === undefined || conversations.page(seq, { before: NEWEST, limit: 1 }).length === 0) {
      throw notFound("conversation");
    }
    const end = before === undefined ? NEWEST : seqOf("m", before);
    if (end === undefined) throw invalid("before must be a message id");
    const { items, nextCursor } = page(
      { limit: limitIn(pageQuery({ limit })), before: end },
      (rows) => conversations.page(seq, rows),
      { item: (message) => this.#message(message), cursor: ({ seq: last }) => idOf("m", last) },
    );
    return { items: items.toReversed(), more: nextCursor !== null };
  }

  /**
   * Deletes a message: clears its text and removes its images (section 2 of the platform document). Writes no event.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  deleteMessage(messageId: string): ControlMessage {
    const { conversations, images } = this.#store;
    const seq = seqOf("m", messageId);
    const message = seq === undefined ? undefined : conversations.message(seq);
    if (message === undefined) throw notFound(`message: ${messageId}`);
    this.#store.transaction(() => {
      conversations.clear(message.seq);
      images.removeFrom({ message: message.seq });
    });
    return this.#message({ ...message, text: "" });
  }

  /** Lists all posts with their reactions, newest first. */
  posts(input: PageInput = {}): Page<ControlPost> {
    return page(
      window(pageQuery(input), (cursor) => seqOf("p", cursor)),
      (rows) => this.#store.posts.countedPosts(rows),
      { item: (post) => this.#post(post), cursor: ({ seq }) => idOf("p", seq) },
    );
  }

  /**
   * Returns a post with its reactions.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  post(postId: string): ControlPost {
    const seq = seqOf("p", postId);
    const post = seq === undefined ? undefined : this.#store.posts.counted(seq);
    if (post === undefined) throw notFound(`post: ${postId}`);
    return this.#post(post);
  }

  /** Lists all comments on a post, oldest first. */
  comments(postId: string): readonly ControlComment[] {
    const { posts } = this.#store;
    const seq = seqOf("p", postId);
    if (seq === undefined || posts.post(seq) === undefined) throw notFound("post");
    return posts.allComments(seq).map((comment) => {
      const { replyTo } = comment;
      const replyToId = replyTo === null ? null : idOf("cm", replyTo);
      return { ...this.#views.comment(comment), replyToId };
    });
  }

  get #store(): Store {
    return this.#state.world.store;
  }

  get #views(): Views {
    return this.#state.world.views;
  }

  #message(message: Message): ControlMessage {
    const view = this.#views.message(message, { seq: message.author });
    return { ...view, fromBot: message.authorIsBot === 1 };
  }

  #conversation(row: ConversationRow): ControlConversation {
    const { seq, isGroup, lastSeq, lastAuthorUsername, lastText, lastAt } = row;
    const members = this.#store.conversations.members(seq);
    return {
      id: idOf("c", seq),
      group: isGroup === 1,
      members: members.map(({ isBot, ...member }) => ({ ...member, isBot: isBot === 1 })),
      lastMessageAt: isoTime(lastAt),
      lastMessage: {
        id: idOf("m", lastSeq),
        authorUsername: lastAuthorUsername,
        text: lastText,
        images: this.#store.images.of({ message: lastSeq }).length,
      },
    };
  }

  #post(post: CountedPost): ControlPost {
    const { likes, reposts, quotes, comments, quoted } = post;
    const quotedPostId = quoted === null ? null : idOf("p", quoted);
    return { ...this.#views.post(post), likes, reposts, quotes, comments, quotedPostId };
  }
}
