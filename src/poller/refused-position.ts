import { ApiError } from "../client/errors.ts";
import type { Logger } from "../core/logger.ts";
import { idFamily, orderKey } from "../events/id.ts";

/**
 * HTTP statuses with which the platform may refuse a position that has left the log. The platform document defines
 * neither how long the log keeps events nor the response to an old position (section 6).
 */
const statuses: ReadonlySet<number> = new Set([400, 404, 410, 416, 422]);

export function mayRefusePosition(error: unknown): error is ApiError {
  return error instanceof ApiError && statuses.has(error.status);
}

/**
 * Stored position that the platform refuses, until there is a new position. Reading restarts at the oldest event. A
 * trimmed log has no events up to the refused position. A platform that refused it by mistake returns all of them.
 * These events are done, even if the inbox has deleted them.
 */
export class RefusedPosition {
  #cursor: string | undefined;
  readonly #leftOut = new Set<string>();
  #isLogged = false;

  refuse(cursor: string | undefined): void {
    if (cursor === undefined) return;
    // A refused position never moves backwards.
    if (this.#cursor === undefined || orderKey(cursor) > orderKey(this.#cursor)) {
      this.#cursor = cursor;
    }
    this.#isLogged = false;
  }

  /** Clears the refused position once there is a new position. */
  replace(log: Logger): void {
    this.logLeftOut(log);
    this.#cursor = undefined;
    this.#leftOut.clear();
  }

  /** Returns whether to skip an event because it does not come after the refused position. */
  leavesOut(id: string): boolean {
    const isDone = this.covers(id);
    if (isDone && !this.#isLogged) this.#leftOut.add(id);
    return isDone;
  }

  /** Logs once how many events were skipped, because some may not have been handled. */
  logLeftOut(log: Logger): void {
    if (this.#leftOut.size === 0 || this.#isLogged) return;
    this.#isLogged = true;
    log.warn(
      { events: this.#leftOut.size },
      "skipped events up to the saved position; they count as done",
    );
  }

  /**
   * Returns whether an event or a position is at or before the refused position. False if the two are not comparable.
   */
  covers(id: string): boolean {
    const cursor = this.#cursor;
    if (cursor === undefined || idFamily(id) !== idFamily(cursor)) return false;
    return orderKey(id) <= orderKey(cursor);
  }
}
