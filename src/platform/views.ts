import { AVATAR_FILE } from "./media.ts";
import type { ConversationSummary, Message } from "./store/conversations.ts";
import { idOf } from "./store/ids.ts";
import type { Image, Images, Target } from "./store/images.ts";
import type { User } from "./store/people.ts";
import type { Comment, Post } from "./store/posts.ts";

/** Author of a post or comment. `isBot` labels content written by a bot (section 1 of the platform document). */
export interface AuthorView {
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
}

/** An account, as in `GET /me` and `GET /users/:username`. The platform document does not specify the fields. */
export interface ProfileView extends AuthorView {
  readonly id: string;
  readonly avatarUrl: string | null;
}

/** Image in a post or comment. */
export interface ImageView {
  readonly url: string;
  /** `null` if there is no preview (section 2 of the platform document). */
  readonly thumbUrl: string | null;
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
}

/** A post. The platform document specifies only the first four fields. */
export interface PostView {
  readonly id: string;
  readonly type: "post";
  readonly text: string;
  readonly images: readonly ImageView[];
  readonly author: AuthorView;
  readonly createdAt: string;
}

export interface CommentView extends Omit<PostView, "type"> {
  readonly type: "comment";
  readonly postId: string;
}

export interface MessageView {
  readonly id: string;
  readonly conversationId: string;
  readonly fromBot: boolean;
  readonly authorUsername: string;
  readonly text: string;
  readonly createdAt: string;
  readonly replyToId: string | null;
  readonly images: readonly Omit<ImageView, "thumbUrl">[];
}

export interface ConversationView {
  readonly id: string;
  readonly peer: AuthorView & { readonly avatarUrl: string | null };
  readonly lastMessageAt: string;
  readonly lastMessage: { readonly text: string; readonly fromBot: boolean };
}

/** Response to `POST /uploads`. */
export interface UploadView extends ImageView {
  /**
   * Preview URL, or the URL of the image itself if there is no preview, because this field cannot be `null` (section 2
   * of the platform document).
   */
  readonly thumbUrl: string;
  /** Single-use key for `imageKeys`. */
  readonly key: string;
  /** File size in bytes. */
  readonly bytes: number;
}

export class Views {
  readonly #images: Images;
  readonly #origin: string;

  constructor(images: Images, origin: string) {
    this.#images = images;
    this.#origin = origin;
  }

  image({ file, thumbnail, width, height }: Image): ImageView {
    const thumbUrl = thumbnail === null ? null : this.#url(thumbnail);
    return { url: this.#url(file), thumbUrl, width, height };
  }

  post(post: Post): PostView {
    const content = this.#authoredContent(post, { post: post.seq });
    return { id: idOf("p", post.seq), type: "post", ...content };
  }

  comment(comment: Comment): CommentView {
    const content = this.#authoredContent(comment, { comment: comment.seq });
    const postId = idOf("p", comment.post);
    return { id: idOf("cm", comment.seq), type: "comment", ...content, postId };
  }

  /** Sets `fromBot` for messages by this bot (section 2 of the platform document). */
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

  /** Gives only every second account an avatar, so that bots encounter both cases. */
  #avatarUrl(user: number): string | null {
    return user % 2 === 0 ? this.#url(AVATAR_FILE) : null;
  }

  #url(file: string): string {
    return `${this.#origin}/media/${file}`;
  }

  #authoredContent(content: Post | Comment, target: Target): Omit<PostView, "id" | "type"> {
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

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
