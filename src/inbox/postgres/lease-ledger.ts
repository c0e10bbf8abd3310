import type { Clock } from "../../core/clock.ts";
import type { Advance, Claim } from "../inbox.ts";

/** Gives back all lanes but these, with these fences. */
type GiveBack = (lanes: string[], fences: (number | null)[]) => Promise<unknown>;

/** In ms. Lanes are given back again after this, while there may be more of them. */
const AGAIN_MS = 1_000;

/**
 * The lanes that this process knows to hold. A statement may lease lanes and its answer be lost: no process works on such
 * lanes, and they are given back.
 */
export class LeaseLedger {
  readonly #clock: Clock;
  /** The fence of each; null while the lane may be going on with its next event. */
  readonly #fences = new Map<string, number | null>();
  /** When an answer was last lost; `undefined` if all leases are known. */
  #doubtedAt: number | undefined;
  #againAt = Number.NEGATIVE_INFINITY;
  #givingBack: Promise<unknown> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Gives back lanes that this process may hold without knowing. The server may still be at a statement whose answer was
   * lost, and lease lanes after they were given back. This is therefore repeated until a lease has passed: what is
   * leased later is over already, because a lease counts from the beginning of its statement.
   */
  async giveBack(leaseMs: number, work: GiveBack): Promise<void> {
    const now = this.#clock.now();
    if (this.#doubtedAt === undefined || now < this.#againAt) return;
    this.#againAt = now + AGAIN_MS;
    if (now - this.#doubtedAt >= leaseMs) this.#doubtedAt = undefined;
    await this.#giveBack(work);
  }

  /** The same at the end of the process. */
  async giveBackAtLast(work: GiveBack): Promise<void> {
    if (this.#doubtedAt !== undefined) await this.#giveBack(work);
  }

  async #giveBack(work: GiveBack): Promise<void> {
    const working = this.watch(work([...this.#fences.keys()], [...this.#fences.values()]));
    this.#givingBack = working;
    try {
      await working;
    } finally {
      if (this.#givingBack === working) this.#givingBack = undefined;
    }
  }

  /** Resolves when nothing is being given back: a lane that goes on meanwhile would be given back, too. */
  async settled(): Promise<void> {
    while (this.#givingBack !== undefined) await this.#givingBack.catch(() => undefined);
  }

  /** Watches a statement that leases lanes, and may have leased them although it fails. */
  async watch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#doubt();
      throw error;
    }
  }

  add({ lane, fence }: Claim): void {
    // An answer may come after a claim that was made since.
    if ((this.#fences.get(lane) ?? 0) < fence) this.#fences.set(lane, fence);
  }

  /** Removes a claim that is over, even if its lease was lost. */
  forget({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === fence) this.#fences.delete(lane);
  }

  /** Called before a claim ends that may bring the next one of its lane. */
  beginAdvance({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === fence) this.#fences.set(lane, null);
  }

  /** Called instead of `endAdvance` if nothing was written, and the claim goes on. */
  keep({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === null) this.#fences.set(lane, fence);
  }

  /** @param advance `undefined` if the answer was lost */
  endAdvance(claim: Claim, advance: Advance | undefined): void {
    const { lane, fence } = claim;
    const mine = this.#fences.get(lane) === null;
    // It may have been done by an earlier try whose answer never came.
    if (advance?.held !== true) this.#doubt();
    if (advance?.next !== undefined) this.add(advance.next);
    else if (mine && advance === undefined) this.#fences.set(lane, fence);
    else if (mine) this.#fences.delete(lane);
  }

  #doubt(): void {
    this.#doubtedAt = this.#clock.now();
    this.#againAt = Number.NEGATIVE_INFINITY;
  }
}
