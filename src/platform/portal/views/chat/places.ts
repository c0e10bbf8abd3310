import type { ControlConversation } from "../../../types.ts";
import { addressOf, go } from "../../live/route.ts";

/** The conversation of the person who speaks with the bot that is looked at, whether it has begun or not. */
export const OWN = "own";

/** What stands between the ids of an address: `#/chat/c_1~c_2`. */
const BETWEEN = "~";

/** How many conversations are side by side at most. */
export const MAX_PANES = 4;

/** The ids that an address names, from left to right. Nothing named is one's own conversation. */
export function idsIn(id: string): readonly string[] {
  const ids = [...new Set(id.split(BETWEEN).filter((each) => each !== ""))];
  return ids.length === 0 ? [OWN] : ids.slice(0, MAX_PANES);
}

export function addressOfAll(ids: readonly string[]): string {
  return addressOf("chat", ids.join(BETWEEN));
}

export function show(ids: readonly string[]): void {
  go("chat", ids.join(BETWEEN));
}

/** A conversation that is open. */
export interface Place {
  /** Of a conversation that has not begun: {@link OWN}. */
  readonly id: string;
  /** What the address says, which stays when a conversation begins. */
  readonly named: string;
  /** Undefined where it is not known, or has not begun. */
  readonly conversation: ControlConversation | undefined;
}

/** What is open; twice the same is once. */
export function placesOf(
  ids: readonly string[],
  all: readonly ControlConversation[],
  own: ControlConversation | undefined,
): readonly Place[] {
  const places = ids.map((named) => {
    const id = named === OWN ? (own?.id ?? OWN) : named;
    return { id, named, conversation: all.find((each) => each.id === id) };
  });
  return places.filter((place, index) => places.findIndex(({ id }) => id === place.id) === index);
}

/** The one conversation of these two. */
export function between(
  all: readonly ControlConversation[],
  one: string,
  other: string,
): ControlConversation | undefined {
  return all.find(({ group, members }) => !group && has(members, one) && has(members, other));
}

export function has(members: readonly { readonly username: string }[], name: string): boolean {
  return members.some(({ username }) => username === name);
}
