/**
 * The first word of a message selects what its handler does.
 *
 * - `twins` sends two identical replies; `alike` sends the same reply to several messages.
 * - `once` fails on the first attempt, and `stubborn` until an operator retries it.
 * - `count` replies with the number of counted messages in its conversation; `tally` also counts in a group's state.
 * - `remind` sets a timer; `rekey` sets and replaces one; `far` sets one due after the run; `cancel` cancels it.
 */
const behaviours = [
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

export function messageText(behaviour: Behaviour, number: number, note = ""): string {
  return `${behaviour} ${number}${note === "" ? "" : ` (${note})`}`;
}

export function behaviourOf(text: string): Behaviour {
  return behaviours.find((behaviour) => text.startsWith(`${behaviour} `)) ?? "answer";
}

/** Several messages get this reply, so finding it once does not show which of them was answered. */
export const ALIKE = "thanks for writing";

export function answerTo(text: string, n: number): string {
  const behaviour = behaviourOf(text);
  if (behaviour === "alike") return ALIKE;
  return behaviour === "twins" ? `either: ${text}` : `${n}: ${text}`;
}

export function counts(behaviour: Behaviour): boolean {
  return behaviour === "count" || behaviour === "tally";
}

export function numberOf(text: string): number {
  return Number(/\d+/.exec(text)?.[0]);
}

/** Few, so that several conversations update the same state at once. */
const GROUPS = 4;

export function groupOf(text: string): string {
  return `group-${numberOf(text) % GROUPS}`;
}

export const timerAnswers = {
  set: (number: number): string => `set ${number}`,
  due: (number: number): string => `due ${number}`,
  cancelled: (number: number, timers: number): string => `cancelled ${number}: ${timers}`,
} as const;

/**
 * Lists every reply that the bot owes to a message.
 *
 * @param usual the replies to a message whose behaviour has no rule here
 * @param count number of counted messages in the conversation so far, including this message
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

export function commentOn(eventId: string): string {
  return `${eventId} answered`;
}
