/**
 * The first word of a message decides its handler's behaviour. `twins` gives two equal answers, `alike` the same answer
 * to several messages; `once` fails in its first attempt, `stubborn` until a person retries it.
 */
export const behaviours = [
  "answer",
  "twins",
  "alike",
  "slow",
  "linger",
  "step",
  "picture",
  "once",
  "stubborn",
  "throw",
  "hang",
  "block",
] as const;
export type Behaviour = (typeof behaviours)[number];

/** Behaviours that never succeed. */
export const poisons: readonly Behaviour[] = ["throw", "hang", "block"];

/** A unique text for the n-th message. */
export function messageText(behaviour: Behaviour, number: number, note = ""): string {
  return `${behaviour} ${number}${note === "" ? "" : ` (${note})`}`;
}

export function behaviourOf(text: string): Behaviour {
  return behaviours.find((behaviour) => text.startsWith(`${behaviour} `)) ?? "answer";
}

/** The same for several messages, so its order proves nothing. */
export const ALIKE = "thanks for writing";

/** The n-th answer to a message, from 1 up. */
export function answerTo(text: string, n: number): string {
  const behaviour = behaviourOf(text);
  if (behaviour === "alike") return ALIKE;
  return behaviour === "twins" ? `either: ${text}` : `${n}: ${text}`;
}

/** The one answer to an event that is no message. */
export function commentOn(eventId: string): string {
  return `${eventId} answered`;
}
