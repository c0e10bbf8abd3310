import type { Advance, Claim } from "../inbox.ts";

/** The lanes that this process knows to be its own. What else is its own on the server, nobody works on. */
export class Held {
  /** The fence of each; null while the lane may be going on with its next event. */
  readonly #fences = new Map<string, number | null>();
  /** True when the server may have given this process a lane of which it has not heard. */
  #doubt = false;
  /** While lanes are given back of which this process does not know. */
  #givingBack: Promise<unknown> | undefined;

  /**
   * Where there may be lanes of which this process does not know, `work` gives them back: all but these, with these
   * fences. A lane that went on while it is at that would be among them, so `settled` tells when it is over.
   */
  async giveBack(
    work: (lanes: string[], fences: (number | null)[]) => Promise<unknown>,
  ): Promise<void> {
    if (!this.#doubt) return;
    this.#doubt = false;
    const working = this.watch(work([...this.#fences.keys()], [...this.#fences.values()]));
    this.#givingBack = working;
    try {
      await working;
    } finally {
      if (this.#givingBack === working) this.#givingBack = undefined;
    }
  }

  /** Resolves when nothing is being given back. */
  async settled(): Promise<void> {
    while (this.#givingBack !== undefined) await this.#givingBack.catch(() => undefined);
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
    // An answer may come after a claim that was made since.
    if ((this.#fences.get(lane) ?? 0) < fence) this.#fences.set(lane, fence);
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
