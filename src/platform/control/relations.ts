import { newAccount } from "../apps/accounts.ts";
import { type AccountInput, type Profile, profileOf } from "../apps/shapes.ts";
import { invalid, notFound } from "../error.ts";
import { checkText, usernameIn } from "../input-rules.ts";
import { messageIds } from "../store/ids.ts";
import type { Block, User } from "../store/people.ts";
import type { Store } from "../store/store.ts";

/** A group conversation to make. */
export interface GroupInput {
  /** 2 to 50 usernames of people and bots; people are made on first use, the first one writes. */
  readonly members: readonly string[];
  /** Text of the first member. Default "Hello!". */
  readonly text?: string | undefined;
}

/** Result of a message to a group. */
export interface GroupResult {
  readonly conversationId: string;
  readonly messageId: string;
}

/** A block to set or to lift. */
export interface BlockInput {
  /** Username of who blocks; a person is made on first use. */
  readonly by: string;
  /** Username of who is blocked. Default: the first bot. */
  readonly whom?: string | undefined;
  /** Default true. */
  readonly blocked?: boolean | undefined;
}

const MAX_MEMBERS = 50;

/**
 * Makes a group with a first message in it. That is no event: bots have no part in groups (section 1).
 *
 * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG
 */
export function createGroup(
  store: Store,
  { members, text = "Hello!" }: GroupInput,
  now: number,
): GroupResult {
  checkText(text);
  const names = [...new Set(members.map((name) => usernameIn(name, "members")))];
  if (names.length < 2 || names.length > MAX_MEMBERS) {
    throw invalid(`members must hold 2 to ${MAX_MEMBERS} different usernames`);
  }
  return store.transaction(() => {
    const users = names.map((name) => store.people.named(name).seq);
    const conversation = store.conversations.addGroup(users);
    const message = store.conversations.addMessage(conversation, users[0] ?? 0, text, now);
    return messageIds(message);
  });
}

/** @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND */
export function setBlock(store: Store, { by, whom, blocked = true }: BlockInput): readonly Block[] {
  store.transaction(() => {
    const blocker = store.people.named(usernameIn(by, "by"));
    const other = whom === undefined ? store.people.bot() : known(store, usernameIn(whom, "whom"));
    if (blocker.seq === other.seq) throw invalid("nobody blocks themselves");
    store.blocks.set(blocker.seq, other.seq, blocked);
  });
  return store.blocks.all();
}

/**
 * Makes a person.
 *
 * @throws {PlatformError} 400 VALIDATION, also if the name is taken
 */
export function createPerson(store: Store, { username, name }: AccountInput): Profile {
  return profileOf(newAccount(store, { username, name }, "person"));
}

function known(store: Store, username: string): User {
  const user = store.people.find(username);
  if (user === undefined) throw notFound(`user: ${username}`);
  return user;
}
