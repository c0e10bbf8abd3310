import type { Views } from "../api/views.ts";
import { notFound } from "../error.ts";
import type { Message } from "../store/conversations.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { ControlComment, ControlMessage } from "./shapes.ts";

/** What everybody has written, as nobody but the control API sees it. */
export class Contents {
  readonly #store: Store;
  readonly #views: Views;

  constructor(store: Store, views: Views) {
    this.#store = store;
    this.#views = views;
  }

  messages(conversationId: string): readonly ControlMessage[] {
    const seq = seqOf("c", conversationId);
    const messages = seq === undefined ? [] : this.#store.conversations.all(seq);
    if (messages.length === 0) throw notFound("conversation");
    return messages.map((message) => this.#message(message));
  }

  /** Section 2: the text of a deleted message is empty from then on. Its images go with it. */
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

  #message(message: Message): ControlMessage {
    const view = this.#views.message(message, { seq: message.author });
    return { ...view, fromBot: message.authorIsBot === 1 };
  }
}
