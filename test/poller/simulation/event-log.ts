import { ApiError, type EventPage } from "../../faces/client.ts";
import type { IdScheme, Schedule, Scopes } from "./schedule.ts";

/** An event on the simulated platform. Times are the simulation's, not the platform's own. */
export interface LogEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly madeAt: number;
  /** When the event becomes readable and is sent. Some rows commit late. */
  readonly committedAt: number;
  readonly hasDate: boolean;
  readonly wire: object;
}

/** Returns the n-th id of a scheme: integers, numbers of growing length beyond 2^53, or text. */
export function idOf(seq: number, scheme: IdScheme): string {
  if (scheme === "counter") return String(seq);
  if (scheme === "huge") return String(99_999_999_999_999_999_000n + BigInt(seq) * 7n);
  return `ev_${seq.toString(36).padStart(10, "0")}`;
}

export type EventLogOptions = Pick<Schedule, "scopes" | "cursorAtEnd" | "refusesTrimmed">;

/** The event log, with the rules for `GET /events` (section 4 of the platform document). */
export class EventLog {
  #entries: LogEvent[] = [];
  readonly #seqs = new Map<string, number>();
  readonly #scopes: Scopes;
  readonly #refusesTrimmed: boolean;
  #trimmedTo = -1;
  /** True if the last page's cursor is the end of the log, even if the token cannot read the last events. */
  readonly #cursorAtEnd: boolean;

  constructor(options: EventLogOptions) {
    this.#scopes = options.scopes;
    this.#cursorAtEnd = options.cursorAtEnd;
    this.#refusesTrimmed = options.refusesTrimmed;
  }

  commit(event: LogEvent): void {
    this.#seqs.set(event.id, event.seq);
    let at = this.#entries.length;
    while (at > 0 && (this.#entries[at - 1]?.seq ?? 0) > event.seq) at--;
    this.#entries.splice(at, 0, event);
  }

  trim(before: number): LogEvent[] {
    const gone = this.#entries.filter(({ committedAt }) => committedAt < before);
    if (gone.length > 0) {
      this.#entries = this.#entries.filter(({ committedAt }) => committedAt >= before);
      this.#trimmedTo = Math.max(this.#trimmedTo, ...gone.map(({ seq }) => seq));
    }
    return gone;
  }

  mayRead({ type }: LogEvent): boolean {
    if (this.#scopes === "both") return true;
    return (type === "dm.message") === (this.#scopes === "dm");
  }

  seqOf(id: string | undefined): number {
    return this.#seqs.get(id ?? "") ?? -1;
  }

  /** @throws {ApiError} 400 for a trimmed position, if the schedule rejects such positions */
  page(since: string | undefined, limit: number, date: number): EventPage {
    if (this.#refusesTrimmed && this.#isTrimmed(since))
      throw new ApiError("unknown since", { status: 400 });
    const end = this.#entries.at(-1)?.id;
    if (since === "") return { events: [], cursor: end ?? "", date };
    const found: LogEvent[] = [];
    for (let at = this.#after(this.seqOf(since)); at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry !== undefined && this.mayRead(entry)) found.push(entry);
      if (found.length === limit) break;
    }
    const last = found.at(-1)?.id ?? since ?? "";
    const isLast = found.length < limit && end !== undefined && this.seqOf(end) > this.seqOf(last);
    const cursor = this.#cursorAtEnd && isLast ? end : last;
    return { events: found.map(({ wire }) => wire), cursor, date };
  }

  #isTrimmed(since: string | undefined): boolean {
    if (since === undefined || since === "" || this.seqOf(since) > this.#trimmedTo) return false;
    // A late commit may stay in the log longer than the events after it.
    return !this.#entries.some(({ id }) => id === since);
  }

  #after(seq: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
