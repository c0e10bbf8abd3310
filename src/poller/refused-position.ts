import { ApiError } from "../client/errors.ts";
import type { Logger } from "../core/logger.ts";
import { idFamily, orderKey } from "../events/id.ts";

/**
 * Statuses that may mean that a position is no longer in the log. How long the log keeps events, and how an older position is
 * answered, is not shown (section 6 of the platform document).
 */
const statuses: ReadonlySet<number> = new Set([400, 404, 410, 416, 422]);

/** Returns whether a read of the log may have been refused because of the position it began at. */
export function mayRefusePosition(error: unknown): error is ApiError {
  return error instanceof ApiError && statuses.has(error.status);
}

/**
 * The stored position while the platform refuses it, until there is a new one. Reading then begins again with the
 * oldest event. A trimmed log has no event up to that position; a platform that refused it by mistake has all of
 * them, which are done, and which the inbox may have forgotten by now.
 */
export class RefusedPosition {
  #cursor: string | undefined;
  readonly #leftOut = new Set<string>();
  #isLogged = false;

  refuse(cursor: string | undefined): void {
    if (cursor === undefined) return;
    // A position behind the refused one takes nothing back.
    if (this.#cursor === undefined || orderKey(cursor) > orderKey(this.#cursor)) {
      this.#cursor = cursor;
    }
    this.#isLogged = false;
  }

  /** Ends the refusal, because there is a new position. */
  replace(log: Logger): void {
    this.logLeftOut(log);
    this.#cursor = undefined;
    this.#leftOut.clear();
  }

  /** Returns whether an event is left out, because it is not behind the position. */
  leavesOut(id: string): boolean {
    const isDone = this.covers(id);
    if (isDone && !this.#isLogged) this.#leftOut.add(id);
    return isDone;
  }

  /** Logs once how many events were left out, in case they were not done. */
  logLeftOut(log: Logger): void {
    if (this.#leftOut.size === 0 || this.#isLogged) return;
    this.#isLogged = true;
    log.warn(
      { events: this.#leftOut.size },
      "events up to that position were left out: they are taken as done",
    );
  }

  /** Returns whether an event or a position is not behind the refused one, as far as the two can be compared. */
  covers(id: string): boolean {
    const cursor = this.#cursor;
    if (cursor === undefined || idFamily(id) !== idFamily(cursor)) return false;
    return orderKey(id) <= orderKey(cursor);
  }
}
