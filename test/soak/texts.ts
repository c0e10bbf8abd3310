/** What a message asks of the handler, by its first word. */
const behaviours = ["plain", "step", "once", "stubborn", "hopeless", "picture"] as const;
export type Behaviour = (typeof behaviours)[number];

/** The text of a message with this number. */
export function textOf(behaviour: Behaviour, number: number): string {
  return `${behaviour} ${number}, if you please`;
}

export function asked(text: string): Behaviour {
  return behaviours.find((each) => text.startsWith(each)) ?? "plain";
}
