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

/** Where the platform is reached; known once it listens. */
export interface Origin {
  url: string;
}

/** Turns what is stored into what goes over the wire. */
export class Views {
  readonly #images: Images;
  readonly #origin: Origin;

  constructor(images: Images, origin: Origin) {
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
      replyToId: null,
      images: this.#images
        .of({ message: message.seq })
        .map(({ file, width, height }) => ({ url: this.#url(file), width, height })),
    };
  }

  /** The public address of an image. */
  #url(file: string): string {
    return `${this.#origin.url}/media/${file}`;
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

export function conversationView(summary: ConversationSummary, bot: User): ConversationView {
  return {
    id: idOf("c", summary.seq),
    peer: {
      username: summary.peerUsername,
      name: summary.peerName,
      avatarUrl: null,
      isBot: summary.peerIsBot === 1,
    },
    lastMessageAt: isoTime(summary.lastAt),
    lastMessage: { text: summary.lastText, fromBot: summary.lastAuthor === bot.seq },
  };
}

export function profileView({ seq, username, name, isBot }: User): ProfileView {
  return { id: idOf("u", seq), username, name, isBot, avatarUrl: null };
}

/** ISO 8601, UTC, with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
