import type { Clock } from "../../core/clock.ts";
import type { Advance, Claim } from "../inbox.ts";

/** Gives back all lanes but these, with these fences. */
type GiveBack = (lanes: string[], fences: (number | null)[]) => Promise<unknown>;

/** So long after lanes were given back they are given back again, in milliseconds. */
const AGAIN_MS = 1_000;

/** The lanes that this process knows to be its own. What else is its own on the server, nobody works on. */
export class Held {
  readonly #clock: Clock;
  /** The fence of each; null while the lane may be going on with its next event. */
  readonly #fences = new Map<string, number | null>();
  /** When the server may last have given this process a lane of which it has not heard; undefined: all is known. */
  #doubtedAt: number | undefined;
  /** Until then nothing is given back again. */
  #againAt = Number.NEGATIVE_INFINITY;
  /** While lanes are given back of which this process does not know. */
  #givingBack: Promise<unknown> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Where there may be lanes of which this process does not know, `work` gives them back. Nobody can tell when the server
   * is done with a statement whose answer is not waited for any more: it may lease lanes after they were given
   * back. So that is done again and again, until a lease has passed. The lease of what is taken then is over
   * already, for it counts from when the server began with the statement.
   */
  async giveBack(leaseMs: number, work: GiveBack): Promise<void> {
    const now = this.#clock.now();
    if (this.#doubtedAt === undefined || now < this.#againAt) return;
    this.#againAt = now + AGAIN_MS;
    if (now - this.#doubtedAt >= leaseMs) this.#doubtedAt = undefined;
    await this.#giveBack(work);
  }

  /** The same for a process that ends. */
  async giveBackAtLast(work: GiveBack): Promise<void> {
    if (this.#doubtedAt !== undefined) await this.#giveBack(work);
  }

  /** A lane that went on meanwhile would be among those that are given back, so `settled` tells when it is over. */
  async #giveBack(work: GiveBack): Promise<void> {
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
      this.#doubt();
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
