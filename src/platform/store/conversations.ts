import type { Database } from "better-sqlite3";
import { AUTHORED_COLUMNS, type AuthoredContent, type Window } from "./rows.ts";
import { Statement } from "./statement.ts";

export interface Message extends AuthoredContent {
  readonly conversation: number;
  /** The message that this one replies to, or `null`. */
  readonly replyTo: number | null;
}

export interface ConversationSummary {
  readonly seq: number;
  readonly peerSeq: number;
  readonly peerUsername: string;
  readonly peerName: string;
  readonly peerIsBot: number;
  readonly lastSeq: number;
  readonly lastAuthor: number;
  readonly lastText: string;
  readonly lastAt: number;
}

export interface ConversationRow {
  readonly seq: number;
  readonly isGroup: number;
  readonly lastSeq: number;
  readonly lastAuthorUsername: string;
  readonly lastText: string;
  readonly lastAt: number;
}

export interface Member {
  readonly username: string;
  readonly name: string;
  readonly isBot: number;
}

/**
 * A message from a user replies to the previous message, if another account wrote that one. A bot cannot choose a
 * message to reply to.
 */
const REPLY_TO = `
  iif(u.is_bot, NULL, (
    SELECT iif(b.author = x.author, NULL, b.seq) FROM message b
    WHERE b.conversation = x.conversation AND b.seq < x.seq ORDER BY b.seq DESC LIMIT 1))`;

const MESSAGE = `
  SELECT ${AUTHORED_COLUMNS}, x.conversation, ${REPLY_TO} AS replyTo
  FROM message x JOIN user u ON u.seq = x.author`;

const SUMMARY = `
  SELECT c.seq, u.seq AS peerSeq, u.username AS peerUsername, u.name AS peerName, u.is_bot AS peerIsBot,
         m.seq AS lastSeq, m.author AS lastAuthor, m.text AS lastText, m.created_at AS lastAt
  FROM conversation c
  JOIN message m ON m.seq = c.last_message
  JOIN user u ON u.seq = iif(c.a = @user, c.b, c.a)
  WHERE @user IN (c.a, c.b) AND c.last_message < @before
  ORDER BY c.last_message DESC LIMIT @limit`;

const LATEST = `
  SELECT c.seq, c.a IS NULL AS isGroup, m.seq AS lastSeq, u.username AS lastAuthorUsername,
         m.text AS lastText, m.created_at AS lastAt
  FROM conversation c
  JOIN message m ON m.seq = c.last_message
  JOIN user u ON u.seq = m.author
  WHERE c.last_message < @before AND (@user IS NULL OR @user IN (c.a, c.b) OR EXISTS (
    SELECT 1 FROM group_member WHERE conversation = c.seq AND user = @user))
  ORDER BY c.last_message DESC LIMIT @limit`;

const MEMBERS = `
  SELECT u.username, u.name, u.is_bot AS isBot FROM user u
  WHERE u.seq IN (
    SELECT a FROM conversation WHERE seq = @seq UNION SELECT b FROM conversation WHERE seq = @seq
    UNION SELECT user FROM group_member WHERE conversation = @seq)
  ORDER BY u.seq`;

export class Conversations {
  readonly #find: Statement<[number, number], { seq: number }>;
  readonly #insert: Statement<[number, number]>;
  readonly #member: Statement<[{ seq: number; user: number }], { seq: number }>;
  readonly #peer: Statement<[{ seq: number; user: number }], { peer: number }>;
  readonly #insertGroup: Statement<[]>;
  readonly #insertMember: Statement<[number, number]>;
  readonly #addMessage: Statement<[number, number, string, number]>;
  readonly #touch: Statement<[number, number]>;
  readonly #message: Statement<[number], Message>;
  readonly #clear: Statement<[number]>;
  readonly #page: Statement<[number, number, number], Message>;
  readonly #all: Statement<[number], Message>;
  readonly #summaries: Statement<[Window & { user: number }], ConversationSummary>;
  readonly #latest: Statement<[Window & { user: number | null }], ConversationRow>;
  readonly #members: Statement<[{ seq: number }], Member>;

  constructor(db: Database) {
    this.#find = new Statement(db, "SELECT seq FROM conversation WHERE a = ? AND b = ?");
    this.#insert = new Statement(db, "INSERT INTO conversation (a, b) VALUES (?, ?)");
    this.#member = new Statement(
      db,
      `SELECT seq FROM conversation WHERE seq = @seq AND (@user IN (a, b) OR EXISTS (
         SELECT 1 FROM group_member WHERE conversation = @seq AND user = @user))`,
    );
    this.#peer = new Statement(
      db,
      "SELECT iif(a = @user, b, a) AS peer FROM conversation WHERE seq = @seq AND @user IN (a, b)",
    );
    this.#insertGroup = new Statement(db, "INSERT INTO conversation (a, b) VALUES (NULL, NULL)");
    this.#insertMember = new Statement(
      db,
      "INSERT INTO group_member (conversation, user) VALUES (?, ?)",
    );
    this.#addMessage = new Statement(
      db,
      "INSERT INTO message (conversation, author, text, created_at) VALUES (?, ?, ?, ?)",
    );
    this.#touch = new Statement(db, "UPDATE conversation SET last_message = ? WHERE seq = ?");
    this.#message = new Statement(db, `${MESSAGE} WHERE x.seq = +?`);
    this.#clear = new Statement(db, "UPDATE message SET text = '' WHERE seq = ?");
    this.#page = new Statement(
      db,
      `${MESSAGE} WHERE x.conversation = ? AND x.seq < ? ORDER BY x.seq DESC LIMIT ?`,
    );
    this.#all = new Statement(db, `${MESSAGE} WHERE x.conversation = ? ORDER BY x.seq`);
    this.#summaries = new Statement(db, SUMMARY);
    this.#latest = new Statement(db, LATEST);
    this.#members = new Statement(db, MEMBERS);
  }

  /** Returns the conversation between two accounts. Creates it on first use. */
  between(one: number, other: number): number {
    const [a, b] = one < other ? [one, other] : [other, one];
    return this.#find.get(a, b)?.seq ?? Number(this.#insert.run(a, b).lastInsertRowid);
  }

  addGroup(members: readonly number[]): number {
    const seq = Number(this.#insertGroup.run().lastInsertRowid);
    for (const member of members) this.#insertMember.run(seq, member);
    return seq;
  }

  hasMember(conversation: number, user: number): boolean {
    return this.#member.get({ seq: conversation, user }) !== undefined;
  }

  /** Returns the other member of a direct conversation, or `undefined` for a group or if `user` is not a member. */
  peer(conversation: number, user: number): number | undefined {
    return this.#peer.get({ seq: conversation, user })?.peer;
  }

  addMessage(conversation: number, author: number, text: string, at: number): Message {
    const seq = Number(this.#addMessage.run(conversation, author, text, at).lastInsertRowid);
    this.#touch.run(seq, conversation);
    const message = this.#message.get(seq);
    if (message === undefined) throw new Error(`Message ${seq} is gone right after its INSERT`);
    return message;
  }

  message(seq: number): Message | undefined {
    return this.#message.get(seq);
  }

  /** Clears a message's text. The message keeps its place in the conversation. */
  clear(seq: number): void {
    this.#clear.run(seq);
  }

  /** Returns a user's conversations that have messages, sorted by latest message. */
  summaries(user: number, window: Window): ConversationSummary[] {
    return this.#summaries.all({ user, ...window });
  }

  /**
   * Returns conversations that have messages, of one user or of all users, sorted by latest message. Includes groups.
   */
  latest(window: Window, user?: number): ConversationRow[] {
    return this.#latest.all({ ...window, user: user ?? null });
  }

  /** Returns the members in the order in which they joined the platform. */
  members(seq: number): Member[] {
    return this.#members.all({ seq });
  }

  page(conversation: number, { before, limit }: Window): Message[] {
    return this.#page.all(conversation, before, limit);
  }

  /** Returns all messages, oldest first. */
  all(conversation: number): Message[] {
    return this.#all.all(conversation);
  }
}
