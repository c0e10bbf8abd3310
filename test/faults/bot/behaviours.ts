/**
 * A message's first word selects the behaviour of its handler.
 *
 * - `twins` sends two identical replies; `alike` sends the same reply to several messages.
 * - `once` fails its first attempt, `stubborn` until an operator retries it.
 * - `count` replies with the number of counted messages in its conversation; `tally` also counts in a group's state.
 * - `remind` sets a timer; `rekey` sets and replaces one; `far` sets one due after the run; `cancel` cancels it.
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

export const poisons: readonly Behaviour[] = ["throw", "hang", "block"];

/** Returns a unique text for the n-th message. */
export function messageText(behaviour: Behaviour, number: number, note = ""): string {
  return `${behaviour} ${number}${note === "" ? "" : ` (${note})`}`;
}

export function behaviourOf(text: string): Behaviour {
  return behaviours.find((behaviour) => text.startsWith(`${behaviour} `)) ?? "answer";
}

/** Several messages have this text, so its order proves nothing. */
export const ALIKE = "thanks for writing";

export function answerTo(text: string, n: number): string {
  const behaviour = behaviourOf(text);
  if (behaviour === "alike") return ALIKE;
  return behaviour === "twins" ? `either: ${text}` : `${n}: ${text}`;
}

/** Returns true for messages that the bot counts in their conversation's state. */
export function counts(behaviour: Behaviour): boolean {
  return behaviour === "count" || behaviour === "tally";
}

export function numberOf(text: string): number {
  return Number(/\d+/.exec(text)?.[0]);
}

/** Number of groups for `tally`. Few, so that several conversations write one state at once. */
const GROUPS = 4;

/** Returns the key of the state that a `tally` increments. */
export function groupOf(text: string): string {
  return `group-${numberOf(text) % GROUPS}`;
}

/** Replies to messages about timers. The bot sends `due` when the timer fires. */
export const timerAnswers = {
  set: (number: number): string => `set ${number}`,
  due: (number: number): string => `due ${number}`,
  cancelled: (number: number, timers: number): string => `cancelled ${number}: ${timers}`,
} as const;

/**
 * Lists every reply that the bot owes for a message.
 *
 * @param usual replies to a message whose behaviour has no rule here
 * @param count number of counted messages in its conversation, including this one
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

/** Returns the bot's single reply to an event that is not a message. */
export function commentOn(eventId: string): string {
  return `${eventId} answered`;
}
