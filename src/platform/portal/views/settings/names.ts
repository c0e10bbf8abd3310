import type { AppView, Scope } from "../../../types.ts";

/** The scopes (section 5), and what each lets a bot do. */
const texts: Readonly<Record<Scope, string>> = {
  read: "read content, and every event but direct messages",
  "posts:write": "write posts, upload images",
  "comments:write": "write comments, upload images",
  dm: "read and answer direct messages, their events, upload images",
};

export const scopes: readonly { readonly scope: Scope; readonly text: string }[] = Object.entries(
  texts,
).map(([scope, text]) => ({ scope: scope as Scope, text }));

/** In the order of the document, whatever was chosen first. */
export function inOrder(chosen: readonly Scope[]): Scope[] {
  return scopes.map(({ scope }) => scope).filter((scope) => chosen.includes(scope));
}

/** The usernames in a text: with or without `@`, divided by commas or white space, each once. */
export function usernamesIn(text: string): string[] {
  const names = text.split(/[\s,]+/).map((name) => name.replace(/^@/, "").toLowerCase());
  return [...new Set(names.filter((name) => name !== ""))];
}

/**
 * The members of a group, as they were typed.
 *
 * @throws {Error} fewer than two of them, or more than 50
 */
export function membersIn(text: string): string[] {
  const members = usernamesIn(text);
  if (members.length >= 2 && members.length <= 50) return members;
  throw new Error(`A group has 2 to 50 members; these are ${members.length}.`);
}

/** A name for whoever is new: nothing is said where it is empty. */
export function account(username: string, name: string): { username: string; name?: string } {
  const [plain = ""] = usernamesIn(username);
  return name.trim() === "" ? { username: plain } : { username: plain, name: name.trim() };
}

/** What is to be known before a token is revoked. */
export function revokeWarning(
  standard: boolean,
  { bot: { username }, tokens }: Pick<AppView, "bot" | "tokens">,
): string {
  if (standard) {
    return (
      "It is the standard token, which the platform printed at its start and the bot has in its .env: " +
      "the bot can do nothing without it. The next start of the platform makes a new one."
    );
  }
  if (tokens === 1)
    return `It is the last token of @${username}: the bot can do nothing without one.`;
  return "Requests with it get 401.";
}

/** The name of a file that keeps the state, with the time in it. */
export function fileName(what: string, at: Date, type: string): string {
  const time = at.toISOString().slice(0, 19).replaceAll(":", "-");
  const plain = what.replace(/[^\w.-]+/g, "-").slice(0, 60);
  return `service-bot-${plain}-${time}.${type}`;
}
