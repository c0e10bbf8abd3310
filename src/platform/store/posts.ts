import type { Database } from "better-sqlite3";
import { AUTHORED_COLUMNS, type AuthoredContent, type Window } from "./rows.ts";
import { Statement } from "./statement.ts";

export interface Post extends AuthoredContent {
  /** Total of likes, reposts, quotes and comments. */
  readonly reactions: number;
}

export interface CountedPost extends Post {
  readonly likes: number;
  readonly reposts: number;
  readonly quotes: number;
  readonly comments: number;
  readonly quoted: number | null;
}

export type Reaction = "like" | "repost" | "quote" | "comment";

export interface Comment extends AuthoredContent {
  readonly post: number;
  readonly replyTo: number | null;
}

/** Selects a page of the trending feed: the posts that rank below post `before`, which has this number of reactions. */
export interface TrendingWindow {
  readonly reactions: number;
  readonly before: number;
  readonly limit: number;
}

export interface Draft {
  readonly author: number;
  readonly text: string;
  readonly at: number;
}

const COUNTS =
  "x.likes, x.reposts, x.quotes, x.quoted," +
  " (SELECT count(*) FROM comment WHERE comment.post = x.seq) AS comments";
const POST = `
  SELECT ${AUTHORED_COLUMNS}, x.reactions
  FROM post x JOIN user u ON u.seq = x.author`;
const COUNTED_POST = `
  SELECT ${AUTHORED_COLUMNS}, x.reactions, ${COUNTS}
  FROM post x JOIN user u ON u.seq = x.author`;
const COMMENT = `
  SELECT ${AUTHORED_COLUMNS}, x.post, x.reply_to AS replyTo
  FROM comment x JOIN user u ON u.seq = x.author`;
const NEWEST = "WHERE x.author = +? ORDER BY x.seq DESC LIMIT 1";

export class Posts {
  readonly #addPost: Statement<[Draft & { quoted: number | null }]>;
  readonly #addComment: Statement<[Draft & { post: number; replyTo: number | null }]>;
  readonly #post: Statement<[number], Post>;
  readonly #posts: Statement<[number, number], Post>;
  readonly #trending: Statement<[TrendingWindow], Post>;
  readonly #counted: Statement<[number], CountedPost>;
  readonly #countedPosts: Statement<[number, number], CountedPost>;
  readonly #react: Statement<[{ post: number; kind: Reaction }]>;
  readonly #search: Statement<[string, number, number], Post>;
  readonly #newestPost: Statement<[number], Post>;
  readonly #comment: Statement<[number], Comment>;
  readonly #newestComment: Statement<[number], Comment>;
  readonly #comments: Statement<[number, number, number], Comment>;
  readonly #allComments: Statement<[number], Comment>;

  constructor(db: Database) {
    this.#addPost = new Statement(
      db,
      "INSERT INTO post (author, text, created_at, quoted) VALUES (@author, @text, @at, @quoted)",
    );
    this.#addComment = new Statement(
      db,
      `INSERT INTO comment (post, author, reply_to, text, created_at)
       VALUES (@post, @author, @replyTo, @text, @at)`,
    );
    this.#post = new Statement(db, `${POST} WHERE x.seq = +?`);
    this.#posts = new Statement(db, `${POST} WHERE x.seq < ? ORDER BY x.seq DESC LIMIT ?`);
    this.#trending = new Statement(
      db,
      `${POST} WHERE (x.reactions, x.seq) < (@reactions, @before) AND u.is_bot = 0
       ORDER BY x.reactions DESC, x.seq DESC LIMIT @limit`,
    );
    this.#counted = new Statement(db, `${COUNTED_POST} WHERE x.seq = +?`);
    this.#countedPosts = new Statement(
      db,
      `${COUNTED_POST} WHERE x.seq < ? ORDER BY x.seq DESC LIMIT ?`,
    );
    this.#react = new Statement(
      db,
      `UPDATE post SET reactions = reactions + 1, likes = likes + (@kind = 'like'),
         reposts = reposts + (@kind = 'repost'), quotes = quotes + (@kind = 'quote')
       WHERE seq = @post`,
    );
    this.#search = new Statement(
      db,
      `${POST} WHERE instr(folded(x.text), folded(?)) AND x.seq < ? ORDER BY x.seq DESC LIMIT ?`,
    );
    this.#newestPost = new Statement(db, `${POST} ${NEWEST}`);
    this.#comment = new Statement(db, `${COMMENT} WHERE x.seq = +?`);
    this.#newestComment = new Statement(db, `${COMMENT} ${NEWEST}`);
    this.#comments = new Statement(
      db,
      `${COMMENT} WHERE x.post = ? AND x.seq < ? ORDER BY x.seq DESC LIMIT ?`,
    );
    this.#allComments = new Statement(db, `${COMMENT} WHERE x.post = ? ORDER BY x.seq`);
  }

  /** @param quoted the post that this post quotes; its quote count increases */
  addPost(draft: Draft, quoted: number | null = null): Post {
    const { lastInsertRowid } = this.#addPost.run({ ...draft, quoted });
    if (quoted !== null) this.react(quoted, "quote");
    return present(this.#post.get(Number(lastInsertRowid)));
  }

  addComment(post: number, draft: Draft, replyTo: number | null = null): Comment {
    const { lastInsertRowid } = this.#addComment.run({ ...draft, post, replyTo });
    this.react(post, "comment");
    return present(this.#comment.get(Number(lastInsertRowid)));
  }

  react(post: number, kind: Reaction): void {
    this.#react.run({ post, kind });
  }

  post(seq: number): Post | undefined {
    return this.#post.get(seq);
  }

  posts({ before, limit }: Window): Post[] {
    return this.#posts.all(before, limit);
  }

  counted(seq: number): CountedPost | undefined {
    return this.#counted.get(seq);
  }

  countedPosts({ before, limit }: Window): CountedPost[] {
    return this.#countedPosts.all(before, limit);
  }

  /** Returns posts by users sorted by reactions, then newest first. */
  trending(window: TrendingWindow): Post[] {
    return this.#trending.all(window);
  }

  /** Returns posts whose text contains `text`, ignoring case, newest first. */
  search(text: string, { before, limit }: Window): Post[] {
    return this.#search.all(text, before, limit);
  }

  newestPost(author: number): Post | undefined {
    return this.#newestPost.get(author);
  }

  comment(seq: number): Comment | undefined {
    return this.#comment.get(seq);
  }

  newestComment(author: number): Comment | undefined {
    return this.#newestComment.get(author);
  }

  comments(post: number, { before, limit }: Window): Comment[] {
    return this.#comments.all(post, before, limit);
  }

  allComments(post: number): Comment[] {
    return this.#allComments.all(post);
  }
}

function present<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error("A row is gone right after its INSERT");
  return row;
}
