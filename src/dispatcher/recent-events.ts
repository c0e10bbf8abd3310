import { tryRead } from "../errors.ts";
import { notedLength, readStoredEvent, textsOf } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim } from "../inbox/inbox.ts";

/** Number of events to keep after their runs, and maximum length of each, in characters. Together at most 3 MB. */
const MAX_EVENTS = 100;
const MAX_LENGTH = 16_384;

/** An event with its claim. */
export interface ClaimedEvent {
  readonly claim: Claim;
  /** `undefined` if no run has read it. */
  readonly event: AnyEvent | undefined;
}

/** The events whose runs ended last. An error that a handler causes after its run may quote their texts. */
export class RecentEvents {
  readonly #ended: ClaimedEvent[] = [];
  #next = 0;

  add({ claim, event }: ClaimedEvent): void {
    const noted = event === undefined ? 0 : notedLength(event);
    if (claim.body.length + noted > MAX_LENGTH) return;
    this.#ended[this.#next] = { claim, event };
    this.#next = (this.#next + 1) % MAX_EVENTS;
  }

  /**
   * Returns the texts that users wrote in one event, or in all events if no id is given. `undefined` if the event is
   * neither running nor recent.
   */
  textsOf(id: string | undefined, running: readonly ClaimedEvent[]): readonly string[] | undefined {
    const events = [...running, ...this.#ended];
    const chosen = id === undefined ? events : events.filter(({ claim }) => claim.id === id);
    if (id !== undefined && chosen.length === 0) return undefined;
    return chosen.flatMap(textsIn);
  }
}

function textsIn({ claim, event = claim.event }: ClaimedEvent): readonly string[] {
  return tryRead(() => textsOf(event ?? readStoredEvent(claim.body))) ?? [];
}
