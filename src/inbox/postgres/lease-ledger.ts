import type { Clock } from "../../core/clock.ts";
import type { Advance, Claim } from "../inbox.ts";

/** Releases all lanes of this process except the given lanes with the given fences. */
type GiveBack = (lanes: string[], fences: (number | null)[]) => Promise<unknown>;

/** Interval between two releases, in ms. */
const AGAIN_MS = 1_000;

/**
 * Lanes that this process knows it holds. If the response to a leasing statement is lost, this process works on none of
 * the leased lanes, so they are released.
 */
export class LeaseLedger {
  readonly #clock: Clock;
  /** Fence of each lane. `null` while the lane may be continuing with its next event. */
  readonly #fences = new Map<string, number | null>();
  /** Time when a response was last lost. `undefined` if no lease is in doubt. */
  #doubtedAt: number | undefined;
  #againAt = Number.NEGATIVE_INFINITY;
  #givingBack: Promise<unknown> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Releases lanes that this process may hold without knowing. The server may run the statement whose response was lost
   * after the first release, so the release is repeated until one lease duration has passed. A lease counts from the
   * start of its statement, so it has expired by then.
   */
  async giveBack(leaseMs: number, work: GiveBack): Promise<void> {
    const now = this.#clock.now();
    if (this.#doubtedAt === undefined || now < this.#againAt) return;
    this.#againAt = now + AGAIN_MS;
    if (now - this.#doubtedAt >= leaseMs) this.#doubtedAt = undefined;
    await this.#giveBack(work);
  }

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

  /**
   * Resolves once no release is in progress. A release in progress would include a lane that continues in the meantime.
   */
  async settled(): Promise<void> {
    while (this.#givingBack !== undefined) await this.#givingBack.catch(() => undefined);
  }

  /** Waits for a statement that may have leased lanes. If it fails, lanes are released later. */
  async watch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#doubt();
      throw error;
    }
  }

  add({ lane, fence }: Claim): void {
    // An older claim's response may arrive after a newer one.
    if ((this.#fences.get(lane) ?? 0) < fence) this.#fences.set(lane, fence);
  }

  /** Removes a finished claim, even if its lease was lost. */
  forget({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === fence) this.#fences.delete(lane);
  }

  /** Must be called before ending a claim whose lane may continue with its next event. */
  beginAdvance({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === fence) this.#fences.set(lane, null);
  }

  /** Must be called instead of `endAdvance` if nothing was written and the claim continues. */
  keep({ lane, fence }: Claim): void {
    if (this.#fences.get(lane) === null) this.#fences.set(lane, fence);
  }

  /** @param advance `undefined` if the response was lost */
  endAdvance(claim: Claim, advance: Advance | undefined): void {
    const { lane, fence } = claim;
    const mine = this.#fences.get(lane) === null;
    // An earlier attempt whose response was lost may have ended the claim.
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
