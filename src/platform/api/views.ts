import { AVATAR_FILE } from "../media.ts";
import type { ConversationSummary, Message } from "../store/conversations.ts";
import { idOf } from "../store/ids.ts";
import type { Image, Images, Target } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";

/** The label of bot content (section 1) is `isBot`. */
export interface AuthorView {
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
}

/** An account: `GET /me` and `GET /users/:username`. The fields are ours; the document shows none. */
export interface ProfileView extends AuthorView {
  readonly id: string;
  readonly avatarUrl: string | null;
}

/** The image of a post or a comment. */
export interface ImageView {
  readonly url: string;
  /** Null where there is no preview (section 2). */
  readonly thumbUrl: string | null;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
}

/** `author` and `createdAt` are ours; the document shows the first four fields only. */
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

/** The answer of `POST /uploads`. */
export interface UploadView extends ImageView {
  /** The image itself where there is no preview: here null is not foreseen (section 2). */
  readonly thumbUrl: string;
  /** Single-use, for `imageKeys`. */
  readonly key: string;
  /** The size of the file. */
  readonly bytes: number;
}

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
