/**
 * What the handler of the bot under test does with a message; `twins` are answers with one text, and `alike` are those
 * that other messages get, too.
 */
export const behaviours = [
  "answer",
  "twins",
  "alike",
  "slow",
  "linger",
  "throw",
  "hang",
  "block",
] as const;
export type Behaviour = (typeof behaviours)[number];

/** The text of the n-th message of a scenario: unique, and it says what its handler shall do. */
export function messageText(behaviour: Behaviour, number: number, note = ""): string {
  return `${behaviour} ${number}${note === "" ? "" : ` (${note})`}`;
}

export function behaviourOf(text: string): Behaviour {
  return behaviours.find((behaviour) => text.startsWith(`${behaviour} `)) ?? "answer";
}

/** Behaviours of handlers that never succeed. */
export const poisons: readonly Behaviour[] = ["throw", "hang", "block"];

/** The n-th answer to a message, from 1 up. */
export function answerTo(text: string, n: number): string {
  const behaviour = behaviourOf(text);
  if (behaviour === "alike") return ALIKE;
  return behaviour === "twins" ? `either: ${text}` : `${n}: ${text}`;
}

/** What is said to several messages, so that its order tells nothing. */
export const ALIKE = "thanks for writing";
