import { AVATAR_FILE } from "../media.ts";
import type { ConversationSummary, Message } from "../store/conversations.ts";
import { idOf } from "../store/ids.ts";
import type { Image, Images, Target } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";
import type {
  CommentView,
  ConversationView,
  ImageView,
  MessageView,
  PostView,
  ProfileView,
} from "./shapes.ts";

/** Turns what is stored into what goes over the wire. */
export class Views {
  readonly #images: Images;
  readonly #origin: string;

  /** @param origin where the platform is reached */
  constructor(images: Images, origin: string) {
    this.#images = images;
    this.#origin = origin;
  }

  image({ file, thumbnail, width, height }: Image): ImageView {
    const thumbUrl = thumbnail === null ? null : this.#url(thumbnail);
    return { url: this.#url(file), thumbUrl, width, height };
  }

  post(post: Post): PostView {
    const content = this.#written(post, { post: post.seq });
    return { id: idOf("p", post.seq), type: "post", ...content };
  }

  comment(comment: Comment): CommentView {
    const content = this.#written(comment, { comment: comment.seq });
    const postId = idOf("p", comment.post);
    return { id: idOf("cm", comment.seq), type: "comment", ...content, postId };
  }

  /** `fromBot`: the message belongs to this bot (section 2). */
  message(message: Message, bot: Pick<User, "seq">): MessageView {
    return {
      id: idOf("m", message.seq),
      conversationId: idOf("c", message.conversation),
      fromBot: message.author === bot.seq,
      authorUsername: message.authorUsername,
      text: message.text,
      createdAt: isoTime(message.createdAt),
      replyToId: message.replyTo === null ? null : idOf("m", message.replyTo),
      images: this.#images
        .of({ message: message.seq })
        .map(({ file, width, height }) => ({ url: this.#url(file), width, height })),
    };
  }

  conversation(summary: ConversationSummary, bot: Pick<User, "seq">): ConversationView {
    return {
      id: idOf("c", summary.seq),
      peer: {
        username: summary.peerUsername,
        name: summary.peerName,
        avatarUrl: this.#avatarUrl(summary.peerSeq),
        isBot: summary.peerIsBot === 1,
      },
      lastMessageAt: isoTime(summary.lastAt),
      lastMessage: { text: summary.lastText, fromBot: summary.lastAuthor === bot.seq },
    };
  }

  profile({ seq, username, name, isBot }: User): ProfileView {
    return { id: idOf("u", seq), username, name, isBot, avatarUrl: this.#avatarUrl(seq) };
  }

  /** Every second account has an avatar, so that bots meet both. */
  #avatarUrl(user: number): string | null {
    return user % 2 === 0 ? this.#url(AVATAR_FILE) : null;
  }

  /** The public address of an image. */
  #url(file: string): string {
    return `${this.#origin}/media/${file}`;
  }

  #written(content: Post | Comment, target: Target): Omit<PostView, "id" | "type"> {
    return {
      text: content.text,
      images: this.#images.of(target).map((image) => this.image(image)),
      author: {
        username: content.authorUsername,
        name: content.authorName,
        isBot: content.authorIsBot === 1,
      },
      createdAt: isoTime(content.createdAt),
    };
  }
}

/** ISO 8601, UTC, with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
