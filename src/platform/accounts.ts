import * as z from "zod";
import { invalid, notFound } from "./error.ts";
import { checkText, plainUsername, usernameIn } from "./input-rules.ts";
import { messageIds } from "./store/ids.ts";
import type { Block, User } from "./store/people.ts";
import { addBot } from "./store/seed.ts";
import type { Store } from "./store/store.ts";

/** An account's profile. */
export interface Profile {
  readonly username: string;
  readonly name: string;
}

export function profileOf({ username, name }: Profile): Profile {
  return { username, name };
}

/** A new account: a user, or a new app's bot. */
export interface AccountInput {
  /** 1 to 30 letters, digits, dots, dashes and underscores. */
  readonly username: string;
  /** 1 to 100 characters. Default: the capitalized username. */
  readonly name?: string | undefined;
}

export const accountInput: z.ZodType<AccountInput> = z.strictObject({
  username: z.string(),
  name: z.string().optional(),
});

const MAX_NAME = 100;

/** @throws {PlatformError} 400 VALIDATION, also if the username is taken */
export function newAccount(store: Store, given: AccountInput, kind: "person" | "bot"): User {
  const username = usernameIn(given.username, "username");
  const name = given.name?.trim();
  if (name !== undefined && (name === "" || name.length > MAX_NAME)) {
    throw invalid(`name must have 1 to ${MAX_NAME} characters`);
  }
  const holder = store.people.find(username);
  if (holder !== undefined) {
    throw invalid(`username: a ${holder.isBot ? "bot" : "user"} named ${username} already exists`);
  }
  return kind === "bot" ? addBot(store, username, name) : store.people.add(username, name, kind);
}

/**
 * Returns the bot with this username, or `undefined` for an unknown username. Default: the first bot.
 *
 * @param field name of the input field, for the error message
 * @throws {PlatformError} 400 VALIDATION, also if the account is a user
 */
export function findApp(
  { people }: Store,
  name: string | undefined,
  field = "bot",
): User | undefined {
  if (name === undefined) return people.bot();
  const username = usernameIn(name, field);
  const found = people.find(username);
  if (found?.isBot === false) throw invalid(`${field}: ${username} is a user, not a bot`);
  return found;
}

/**
 * Returns the bot with this username. Default: the first bot.
 *
 * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND if the bot does not exist
 */
export function appNamed(store: Store, name: string | undefined, field = "bot"): User {
  const found = findApp(store, name, field);
  if (found !== undefined) return found;
  const username = plainUsername(name ?? "");
  throw notFound(`bot: ${username}; create it with POST /control/v1/apps`);
}

/** A new group conversation. */
export interface GroupInput {
  /** 2 to 50 usernames of users and bots. Unknown users are created. The first member writes the first message. */
  readonly members: readonly string[];
  /** Text of the first message. Default "Hello!". */
  readonly text?: string | undefined;
}

export const groupInput: z.ZodType<GroupInput> = z.strictObject({
  members: z.array(z.string()),
  text: z.string().optional(),
});

/** Result of creating a group. */
export interface GroupResult {
  readonly conversationId: string;
  readonly messageId: string;
}

/** A block to set or lift. */
export interface BlockInput {
  /** Username of the blocking account. An unknown user is created. */
  readonly by: string;
  /** Username of the blocked account. Default: the first bot. */
  readonly whom?: string | undefined;
  /** True sets the block; false lifts it. Default true. */
  readonly blocked?: boolean | undefined;
}

export const blockInput: z.ZodType<BlockInput> = z.strictObject({
  by: z.string(),
  whom: z.string().optional(),
  blocked: z.boolean().optional(),
});

const MAX_MEMBERS = 50;

/**
 * Creates a group with a first message. Writes no event, because bots cannot take part in groups (section 1 of the
 * platform document).
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
    throw invalid(`members must contain 2 to ${MAX_MEMBERS} different usernames`);
  }
  return store.transaction(() => {
    const users = names.map((name) => store.people.findOrCreate(name).seq);
    const conversation = store.conversations.addGroup(users);
    const message = store.conversations.addMessage(conversation, users[0] ?? 0, text, now);
    return messageIds(message);
  });
}

/** @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND */
export function setBlock(store: Store, { by, whom, blocked = true }: BlockInput): readonly Block[] {
  store.transaction(() => {
    const blocker = store.people.findOrCreate(usernameIn(by, "by"));
    const other = whom === undefined ? store.people.bot() : known(store, usernameIn(whom, "whom"));
    if (blocker.seq === other.seq) throw invalid("an account cannot block itself");
    store.blocks.set(blocker.seq, other.seq, blocked);
  });
  return store.blocks.all();
}

/**
 * Creates a user.
 *
 * @throws {PlatformError} 400 VALIDATION, also if the username is taken
 */
export function createPerson(store: Store, { username, name }: AccountInput): Profile {
  return profileOf(newAccount(store, { username, name }, "person"));
}

function known(store: Store, username: string): User {
  const user = store.people.find(username);
  if (user === undefined) throw notFound(`user: ${username}`);
  return user;
}
