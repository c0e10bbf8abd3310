import { tryRead } from "../errors.ts";
import { readStoredEvent, textsOf } from "../events/parse.ts";
import type { Claim } from "../inbox/inbox.ts";

/** Number of events to keep after their runs, and maximum length of each, in characters. Together at most 3 MB. */
const MAX_EVENTS = 100;
const MAX_LENGTH = 16_384;

/** The events whose runs ended last. An error that a handler causes after its run may quote their texts. */
export class RecentEvents {
  readonly #ended: Claim[] = [];
  #next = 0;

  add(claim: Claim): void {
    if (claim.body.length > MAX_LENGTH) return;
    this.#ended[this.#next] = claim;
    this.#next = (this.#next + 1) % MAX_EVENTS;
  }

  /**
   * Returns the texts that users wrote in one event, or in all events if no id is given. `undefined` if the event is
   * neither running nor recent.
   */
  textsOf(id: string | undefined, running: readonly Claim[]): readonly string[] | undefined {
    const claims = [...running, ...this.#ended];
    const chosen = id === undefined ? claims : claims.filter((claim) => claim.id === id);
    if (id !== undefined && chosen.length === 0) return undefined;
    return chosen.flatMap(textsIn);
  }
}

function textsIn({ event, body }: Claim): readonly string[] {
  return tryRead(() => textsOf(event ?? readStoredEvent(body))) ?? [];
}
