/**
 * The first word of a message decides its handler's behaviour. `twins` gives two equal answers, `alike` the same answer
 * to several messages; `once` fails in its first attempt, `stubborn` until a person retries it. `count` answers the number
 * of counted messages in its conversation, from the state; `tally` counts in the state of a group, too. `remind` sets a
 * timer, `rekey` sets one and replaces it, `far` sets one that is not due within a run, and `cancel` cancels that one.
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
  "count",
  "tally",
  "remind",
  "rekey",
  "far",
  "cancel",
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

/** True for messages that the bot counts in the state of their conversation. */
export function counts(behaviour: Behaviour): boolean {
  return behaviour === "count" || behaviour === "tally";
}

/** The number in a text, which is unique. */
export function numberOf(text: string): number {
  return Number(/\d+/.exec(text)?.[0]);
}

/** Groups of `tally`. Few, so that several conversations change one state at once. */
const GROUPS = 4;

/** The key of the state that a `tally` counts in. */
export function groupOf(text: string): string {
  return `group-${numberOf(text) % GROUPS}`;
}

/** The answers of messages about timers. `due` comes when the timer is due. */
export const timerAnswers = {
  set: (number: number): string => `set ${number}`,
  due: (number: number): string => `due ${number}`,
  cancelled: (number: number, timers: number): string => `cancelled ${number}: ${timers}`,
} as const;

/**
 * Lists everything that the bot is to say because of a message.
 *
 * @param usual answers to a message without a rule of its own
 * @param count of the counted messages in its conversation, itself included
 */
export function answersTo(text: string, usual: number, count: number): readonly string[] {
  const behaviour = behaviourOf(text);
  const number = numberOf(text);
  if (poisons.includes(behaviour)) return [];
  if (counts(behaviour)) return [String(count)];
  const { set, due, cancelled } = timerAnswers;
  if (behaviour === "remind" || behaviour === "rekey") return [set(number), due(number)];
  if (behaviour === "far") return [set(number)];
  if (behaviour === "cancel") return [cancelled(number, 1)];
  return Array.from({ length: usual }, (_, n) => answerTo(text, n + 1));
}

/** The one answer to an event that is no message. */
export function commentOn(eventId: string): string {
  return `${eventId} answered`;
}
