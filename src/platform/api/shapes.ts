/** The shapes of section 2 as they go over the wire. */

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
