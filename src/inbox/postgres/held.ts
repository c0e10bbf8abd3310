import type { Advance, Claim } from "../inbox.ts";

/** The lanes that this process knows to be its own. What else is its own on the server, nobody works on. */
export class Held {
  /** The fence of each; null while the lane may be going on with its next event. */
  readonly #fences = new Map<string, number | null>();
  /** True when the server may have given this process a lane of which it has not heard. */
  #doubt = false;

  /** For a statement: the lanes, and their fences. */
  columns(): [string[], (number | null)[]] {
    return [[...this.#fences.keys()], [...this.#fences.values()]];
  }

  /** Tells once whether there may be lanes of which this process does not know. */
  takeDoubt(): boolean {
    const doubt = this.#doubt;
    this.#doubt = false;
    return doubt;
  }

  /** Of what leases lanes, and may have leased them although nobody said so. */
  async watch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#doubt = true;
      throw error;
    }
  }

  add({ lane, fence }: Claim): void {
    this.#fences.set(lane, fence);
  }

  /** To be told of each claim that is over, be it that its lease was lost. */
  forget({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === fence) this.#fences.delete(lane);
  }

  /** Before a claim ends that may bring the next one of its lane with it. */
  beginAdvance({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === fence) this.#fences.set(lane, null);
  }

  /** @param advance undefined when nobody said what became of it */
  endAdvance(claim: Claim, advance: Advance | undefined): void {
    const { lane, fence } = claim;
    const mine = this.#fences.get(lane) === null;
    // It may have been done by an earlier try whose answer never came.
    if (advance?.held !== true) this.#doubt = true;
    if (advance?.next !== undefined) this.add(advance.next);
    else if (mine && advance === undefined) this.#fences.set(lane, fence);
    else if (mine) this.#fences.delete(lane);
  }
}
