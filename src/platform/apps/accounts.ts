import { invalid } from "../error.ts";
import type { User } from "../store/people.ts";
import { addBot } from "../store/seed.ts";
import type { Store } from "../store/store.ts";
import { usernameIn } from "../username.ts";
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
