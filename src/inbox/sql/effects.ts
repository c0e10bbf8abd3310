import { ServiceBotError } from "../../errors.ts";
import type { Effects, NewTimer, StateWrite } from "../effects.ts";
import type { Claim } from "../inbox.ts";

/** The columns of a stored state, and of a stored timer. */
export const STATE: string = `key, value, version, updated_at AS "updatedAt"`;
export const TIMER: string = `lane, name, key, due_at AS "dueAt", event_id AS "eventId", body`;

/** The timers of a lane and name: all of them, or the one with the key `$3`. */
export const FIND_TIMERS: string = `
SELECT ${TIMER} FROM {schema}.timer
WHERE lane = $1 AND name = $2 AND (CAST($3 AS text) IS NULL OR key = $3) ORDER BY key`;

/**
 * The version of what a run writes. An event can end twice, once as a dead letter and once after a retry by hand, but a
 * fence of its lane is given out once.
 */
export function versionOf({ id, fence }: Claim): string {
  return `${id}#${fence}`;
}

/** State writes that have something to do: the others delete what is not there. */
export function changesOf({ states }: Effects): readonly StateWrite[] {
  return states.filter(({ value, version }) => value !== undefined || version !== undefined);
}

/** The last timer of each lane, name and key. */
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
    "Another run wrote the state in the meantime. The bot runs this event again.",
  );
}
