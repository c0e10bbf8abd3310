/** Selects the rows older than `before`, newest first. */
export interface Window {
  readonly before: number;
  readonly limit: number;
}

export interface AuthoredContent {
  readonly seq: number;
  readonly author: number;
  readonly authorUsername: string;
  readonly authorName: string;
  readonly authorIsBot: number;
  /** Empty for content with only images, and for a deleted message. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** SQL columns of the table `x` and its author `u`. */
export const AUTHORED_COLUMNS: string =
  "x.seq, x.author, u.username AS authorUsername, u.name AS authorName, u.is_bot AS authorIsBot," +
  " x.text, x.created_at AS createdAt";
