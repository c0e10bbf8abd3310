/**
 * How many events wait. This process counts its own along, for counting the rows at every batch would cost
 * more than storing it; what others add or take away is counted anew now and then. With several processes
 * it is therefore near the truth, and exact before a batch is refused.
 */
export class Backlog {
  /** How many may wait. */
  readonly most: number;
  readonly #count: () => Promise<number>;
  #pending = 0;
  /** All that ever came, which never becomes less. */
  #came = 0;
  #stale = false;

  /** @param count counts the events that wait */
  constructor(most: number, count: () => Promise<number>) {
    this.most = most;
    this.#count = count;
  }

  get mayBeFull(): boolean {
    return this.#pending >= this.most;
  }

  add(pending: number): void {
    this.#pending += pending;
    this.#came += Math.max(0, pending);
  }

  /** What failed may have been done all the same. */
  async watch<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      this.#stale = true;
      throw error;
    }
  }

  /** @param countNow whether it is time to count again, if there is a reason */
  othersMayHaveChangedIt(countNow: boolean): void {
    if (!countNow) this.#stale = true;
    else if (this.#stale) this.recount().catch(() => undefined);
  }

  /** Counts anew. What came meanwhile is not in it for sure: until the next time rather too many are known of. */
  async recount(): Promise<number> {
    this.#stale = false;
    const before = this.#came;
    try {
      const counted = await this.#count();
      this.#pending = counted + this.#came - before;
      return counted;
    } catch (error) {
      this.#stale = true;
      throw error;
    }
  }
}
