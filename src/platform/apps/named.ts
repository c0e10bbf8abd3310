import { usernameIn } from "../acts/input.ts";
import { invalid, notFound } from "../error.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";

/**
 * The bot of this username, or the first one when none is named.
 *
 * @param field what the username was given in, for the error
 * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
 */
export function appNamed({ people }: Store, name: string | undefined, field = "bot"): User {
  if (name === undefined) return people.bot();
  const username = usernameIn(name, field);
  const found = people.find(username);
  if (found === undefined) throw notFound(`bot: ${username}; POST /control/v1/apps makes one`);
  if (found.isBot) return found;
  throw invalid(`${field}: ${username} is a person`);
}
