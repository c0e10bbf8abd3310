import { invalid, notFound } from "../error.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import { plainUsername, usernameIn } from "../username.ts";

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
