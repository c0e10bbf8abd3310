import type { AttachedInbox } from "../../inbox/maintenance.ts";
import type { EventState } from "../../inbox/records.ts";

/**
 * One of the things that can be done with an inbox. It reads its arguments first, so that wrong usage is
 * told before a file is opened, and resolves to the exit code.
 */
export type Action = (args: readonly string[]) => (inbox: AttachedInbox) => Promise<number>;

export const jsonFlag = { json: { type: "boolean" } } as const;

/** "dead letters", "pending event". */
export function nameOf(state: EventState, n: number): string {
  const noun = state === "dead" ? "dead letter" : `${state} event`;
  return n === 1 ? noun : `${noun}s`;
}
