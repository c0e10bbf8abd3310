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

/** Returns effects with defaults for the missing fields. By default, a run has no effects. */
export function effects(some: Partial<Effects>): Effects {
  return { ...NONE, ...some };
}

export function keeps(key: string, value: unknown, version?: string): Effects {
  const write: StateWrite = { key, value: JSON.stringify(value), version };
  return effects({ states: [write] });
}

export function timer(key: string, delayMs: number, more: Partial<NewTimer> = {}): NewTimer {
  const [lane, name] = ["dm:c1", "remind"];
  return { lane, name, key, delayMs, eventId: `timer:remind:${key}`, body: `{"n":1}`, ...more };
}

export function eventOf({ lane, name, key, eventId, body, dueAt }: StoredTimer): NewEvent {
  const type = `timer:${name}`;
  const event = { id: eventId, type, payload: { name, key, dueAt, data: JSON.parse(body) } };
  return { id: eventId, type, lane, ord: "", body: JSON.stringify(event) };
}

/** The calls that end a run and write its effects. Each resolves to false if the lease has been lost. */
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
