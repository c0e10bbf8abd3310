import { ApiError } from "../client/errors.ts";
import type { Logger } from "../core/logger.ts";
import { idFamily, orderKey } from "../events/id.ts";

/**
 * What may say that a position is not in the log any more. How long the log keeps events, and what an older
 * position is answered with, is not shown (section 6 of the platform document).
 */
const statuses: ReadonlySet<number> = new Set([400, 404, 410, 416, 422]);

/** Whether a read of the log may have been refused because of the position it began at. */
export function mayRefusePosition(error: unknown): error is ApiError {
  return error instanceof ApiError && statuses.has(error.status);
}

/**
 * The stored position while the platform refuses it, until there is a new one. Reading begins again with the
 * oldest event then. A log that was trimmed has nothing up to that position any more; a platform that refused
 * it by mistake has all of it, which is done, and may be forgotten by now.
 */
export class RefusedPosition {
  #cursor: string | undefined;
  readonly #leftOut = new Set<string>();
  #told = false;

  refuse(cursor: string | undefined): void {
    if (cursor === undefined) return;
    // One that is behind it, and is refused as well, takes nothing back.
    if (this.#cursor === undefined || orderKey(cursor) > orderKey(this.#cursor)) {
      this.#cursor = cursor;
    }
    this.#told = false;
  }

  /** There is a new position. */
  replace(log: Logger): void {
    this.tell(log);
    this.#cursor = undefined;
    this.#leftOut.clear();
  }

  /** Leaves an event out that is not behind the position. */
  leavesOut(id: string): boolean {
    const isDone = this.covers(id);
    if (isDone && !this.#told) this.#leftOut.add(id);
    return isDone;
  }

  /** Tells once how many were left out: nobody would find out that these are not done, if it came to that. */
  tell(log: Logger): void {
    if (this.#leftOut.size === 0 || this.#told) return;
    this.#told = true;
    log.warn(
      { events: this.#leftOut.size },
      "events up to that position were left out: they are taken as done",
    );
  }

  /** Whether an event or a position is not behind the refused one, as far as the two can be compared. */
  covers(id: string): boolean {
    const cursor = this.#cursor;
    if (cursor === undefined || idFamily(id) !== idFamily(cursor)) return false;
    return orderKey(id) <= orderKey(cursor);
  }
}
