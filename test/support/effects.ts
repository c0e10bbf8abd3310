import type {
  Claim,
  Effects,
  Inbox,
  NewEvent,
  NewTimer,
  StateWrite,
  StoredTimer,
} from "../faces/inbox.ts";

const NONE: Effects = { states: [], timers: [], cancels: [] };

/** The effects of a run: nothing, unless they say otherwise. */
export function effects(some: Partial<Effects>): Effects {
  return { ...NONE, ...some };
}

/** Effects that write one state, as it is read for the first time unless a version is given. */
export function keeps(key: string, value: unknown, version?: string): Effects {
  const write: StateWrite = { key, value: JSON.stringify(value), version };
  return effects({ states: [write] });
}

/** A timer of the conversation c1. */
export function timer(key: string, delayMs: number, more: Partial<NewTimer> = {}): NewTimer {
  const [lane, name] = ["dm:c1", "remind"];
  return { lane, name, key, delayMs, eventId: `timer:remind:${key}`, body: `{"n":1}`, ...more };
}

/** The event that a timer becomes. */
export function eventOf({ lane, name, key, eventId, body, dueAt }: StoredTimer): NewEvent {
  const type = `timer:${name}`;
  const event = { id: eventId, type, payload: { name, key, dueAt, data: JSON.parse(body) } };
  return { id: eventId, type, lane, ord: "", body: JSON.stringify(event) };
}

/** The ways in which the end of a run writes its effects. Each resolves to false if the lease was lost. */
export const endings: Readonly<
  Record<
    "complete" | "advance" | "bury",
    (inbox: Inbox, claim: Claim, effects: Effects) => Promise<boolean>
  >
> = {
  complete: (inbox, claim, effects) => inbox.complete(claim, effects),
  advance: async (inbox, claim, effects) => (await inbox.advance(claim, effects)).held,
  bury: (inbox, claim, effects) => inbox.bury(claim, "Error: boom", effects),
};
