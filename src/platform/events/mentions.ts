/**
 * An `@` that begins a word, and all that can be part of a username after it. Dots and dashes at the end
 * belong to the sentence.
 */
const MENTION = /(?<![\w./@])@(\w(?:[\w.-]*\w)?)/g;

/** The usernames that a text mentions, in lower case, each once, in the order of the text. */
export function mentionsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(MENTION)].map(([, username = ""]) => username.toLowerCase()));
}
