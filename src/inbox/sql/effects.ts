import { ServiceBotError } from "../../errors.ts";
import type { Effects, NewTimer, StateWrite } from "../effects.ts";
import type { Claim } from "../inbox.ts";

export const STATE: string = `key, value, version, updated_at AS "updatedAt"`;
export const TIMER: string = `lane, name, key, due_at AS "dueAt", event_id AS "eventId", body`;

/** Selects all timers with a lane and name, or only the timer with key `$3`. */
export const FIND_TIMERS: string = `
SELECT ${TIMER} FROM {schema}.timer
WHERE lane = $1 AND name = $2 AND (CAST($3 AS text) IS NULL OR key = $3) ORDER BY key`;

/**
 * Returns the version of all states that a run writes. It contains the fence, because an event can end twice: as a dead
 * letter and after a manual retry. A lane never assigns a fence twice.
 */
export function versionOf({ id, fence }: Claim): string {
  return `${id}#${fence}`;
}

/** Leaves out writes that would delete a state that does not exist. */
export function changesOf({ states }: Effects): readonly StateWrite[] {
  return states.filter(({ value, version }) => value !== undefined || version !== undefined);
}

/** Returns the last timer set for each lane, name and key. */
export function lastTimers(timers: readonly NewTimer[]): readonly NewTimer[] {
  if (timers.length < 2) return timers;
  const last = new Map(
    timers.map((timer) => [JSON.stringify([timer.lane, timer.name, timer.key]), timer]),
  );
  return [...last.values()];
}

export function stateConflict(): ServiceBotError {
  return new ServiceBotError(
    "STATE_CONFLICT",
    "Another run changed the state in the meantime. The bot runs this event again.",
  );
}
