import { invalid, notFound } from "../error.ts";
import { plainUsername, usernameIn } from "../input-rules.ts";
import type { User } from "../store/people.ts";
import { addBot } from "../store/seed.ts";
import type { Store } from "../store/store.ts";
import type { AccountInput } from "./shapes.ts";

const MAX_NAME = 100;

/** @throws {PlatformError} 400 VALIDATION, when somebody has that username already, too */
export function newAccount(store: Store, given: AccountInput, kind: "person" | "bot"): User {
  const username = usernameIn(given.username, "username");
  const name = given.name?.trim();
  if (name !== undefined && (name === "" || name.length > MAX_NAME)) {
    throw invalid(`name must have 1 to ${MAX_NAME} characters`);
  }
  const holder = store.people.find(username);
  if (holder !== undefined) {
    throw invalid(`username: ${username} is taken by a ${holder.isBot ? "bot" : "person"}`);
  }
  return kind === "bot" ? addBot(store, username, name) : store.people.add(username, name, kind);
}

/**
 * The bot of this username, or the first one when none is named; undefined for a username that nobody has.
 *
 * @param field what the username was given in, for the error
 * @throws {PlatformError} 400 VALIDATION, for a person too
 */
export function findApp(
  { people }: Store,
  name: string | undefined,
  field = "bot",
): User | undefined {
  if (name === undefined) return people.bot();
  const username = usernameIn(name, field);
  const found = people.find(username);
  if (found?.isBot === false) throw invalid(`${field}: ${username} is a person`);
  return found;
}

/**
 * The same, of a bot that has to be there.
 *
 * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
 */
export function appNamed(store: Store, name: string | undefined, field = "bot"): User {
  const found = findApp(store, name, field);
  if (found !== undefined) return found;
  const username = plainUsername(name ?? "");
  throw notFound(`bot: ${username}; POST /control/v1/apps makes one`);
}
