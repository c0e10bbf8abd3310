/** Beginning of a page: rows older than `before`, newest first. */
export interface Window {
  readonly before: number;
  readonly limit: number;
}

/** Fields of every post, comment and message. */
export interface Written {
  readonly seq: number;
  readonly author: number;
  readonly authorUsername: string;
  readonly authorName: string;
  readonly authorIsBot: number;
  /** Empty where there are images alone, and in a message that was deleted. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Its columns, of a table `x` with its author `u`. */
export const WRITTEN: string =
  "x.seq, x.author, u.username AS authorUsername, u.name AS authorName, u.is_bot AS authorIsBot," +
  " x.text, x.created_at AS createdAt";
