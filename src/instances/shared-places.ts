import { type Hold, type Places, WINDOW_MS } from "../client/places.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { SettledPlace, Shared, TakenPlaces } from "../inbox/shared.ts";

export interface SharedPlacesOptions {
  readonly shared: Pick<Shared, "budget">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly total: number;
  /** How long a request can take, in milliseconds. */
  readonly requestMs: number;
  /** How many instances there are. */
  readonly sharers: () => number;
}

/** Places that are at hand are used within this, in milliseconds, or given back. */
const USE_MS = 2_000;

/** Between the end of a request and the moment when the others are told of it, in milliseconds, at most. */
const SETTLE_MS = 250;

/** After a try that brought nothing, or failed, the next one waits this long, in milliseconds. */
const AGAIN_MS = 250;

/** What is known is looked at again after this, in milliseconds: others take places, and give some back. */
const KNOWN_MS = 2_000;

/** A place that was taken for this instance. */
interface Taken {
  readonly grip: string;
  readonly number: number;
  readonly usableUntil: number;
}

/**
 * The places of a budget that several instances have together. Each takes a few at a time from the store, where
 * a place is free again a minute after its request has ended; and after the longest time that it can be in use
 * plus that minute, where whoever took it never says so.
 */
export class SharedPlaces implements Places {
  readonly total: number;
  readonly recheckMs: number = KNOWN_MS;
  readonly #options: SharedPlacesOptions;
  readonly #slice: number;
  #stock: Taken[] = [];
  /** What was free in the store at the last look, and when others come free, on our clock. */
  #pool = 0;
  #times: number[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #ready: Promise<void> | undefined;
  #settled: (Omit<SettledPlace, "freeInMs"> & { readonly freeAt: number })[] = [];
  #cancelSettling: (() => void) | undefined;
  #settling: Promise<void> = Promise.resolve();
  #again: (() => void) | undefined;
  #changed: () => void = () => undefined;

  constructor(options: SharedPlacesOptions) {
    this.#options = options;
    this.total = options.total;
    this.#slice = Math.max(1, Math.floor(options.total / 60));
  }

  get sharers(): number {
    return this.#options.sharers();
  }

  /** Resolves once it is known how many are free. */
  async start(): Promise<void> {
    await this.#look(0, 0);
  }

  /** Gives back what is at hand. */
  async stop(): Promise<void> {
    this.#again?.();
    await this.#looking;
    for (const taken of this.#stock.splice(0)) this.#settle(taken, this.#options.clock.now());
    await this.#settleNow();
  }

  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  free(): number {
    const now = this.#options.clock.now();
    const since = this.#times.findIndex((at) => at > now);
    const come = since === -1 ? this.#times.length : since;
    return Math.min(this.total, this.#usable().length + this.#pool + come);
  }

  freeInMs(count: number): number {
    const { clock } = this.#options;
    if (clock.now() - this.#lookedAt >= KNOWN_MS) void this.#look(0, 0);
    const missing = count - this.free();
    if (missing <= 0) return 0;
    const left = this.#times.filter((at) => at > clock.now());
    const at = left[missing - 1];
    // A place whose request is under way is free after that, and nobody knows when that ends.
    return at === undefined ? WINDOW_MS : Math.min(at - clock.now(), WINDOW_MS);
  }

  take(leave: number, wanted: number): Hold | undefined {
    const taken = this.#usable().pop();
    if (taken !== undefined) return this.#hold(taken);
    const { clock } = this.#options;
    const most = Math.max(wanted, this.#slice);
    const wait = this.#lookedAt + AGAIN_MS - clock.now();
    if (this.#pool > 0 || wait <= 0) void this.#look(most, leave);
    else this.#again ??= clock.timer(wait, () => this.#tryAgain());
    return undefined;
  }

  #tryAgain(): void {
    this.#again = undefined;
    this.#changed();
  }

  /** What is at hand, and may still be used: the store counts on what is not being free again. */
  #usable(): Taken[] {
    const now = this.#options.clock.now();
    const late = this.#stock.filter(({ usableUntil }) => usableUntil <= now);
    if (late.length > 0) {
      this.#stock = this.#stock.filter(({ usableUntil }) => usableUntil > now);
      for (const taken of late) this.#settle(taken, now);
    }
    return this.#stock;
  }

  #hold(taken: Taken): Hold {
    const { clock } = this.#options;
    return {
      end: () => this.#settle(taken, clock.now() + WINDOW_MS),
      giveBack: () => {
        this.#stock.push(taken);
        this.#usable();
      },
    };
  }

  /** @param freeAt when it comes free, on our clock */
  #settle({ grip, number }: Taken, freeAt: number): void {
    const { clock } = this.#options;
    this.#settled.push({ grip, number, freeAt });
    this.#cancelSettling ??= clock.timer(SETTLE_MS, () => void this.#settleNow(), {
      background: true,
    });
  }

  /** What cannot be told comes free later than it could. */
  #settleNow(): Promise<void> {
    this.#cancelSettling?.();
    this.#cancelSettling = undefined;
    const { shared, clock, log } = this.#options;
    const settled = this.#settled.splice(0);
    const now = clock.now();
    this.#settling = this.#settling
      .then(() =>
        shared.budget.settle(
          settled.map(({ freeAt, ...place }) => ({ ...place, freeInMs: freeAt - now })),
        ),
      )
      .catch((err: unknown) => log.debug({ err }, "the end of requests cannot be told"));
    return this.#settling;
  }

  /** Takes places, or none, and sees how many there are. One look at a time. */
  #look(most: number, leave: number): Promise<void> {
    this.#looking ??= this.#lookNow(most, leave).finally(() => {
      this.#looking = undefined;
      this.#changed();
    });
    return this.#looking;
  }

  async #lookNow(most: number, leave: number): Promise<void> {
    const { shared, clock, log, total, requestMs } = this.#options;
    try {
      this.#ready ??= shared.budget.prepare(total);
      await this.#ready;
      await this.#settleNow();
      const asked = clock.now();
      const holdMs = USE_MS + requestMs + WINDOW_MS;
      this.#arrive(await shared.budget.take(total, most, leave, holdMs), asked);
    } catch (err) {
      this.#ready = undefined;
      this.#pool = 0;
      this.#lookedAt = clock.now();
      log.debug({ err }, "the budget of requests cannot be read");
    }
  }

  #arrive({ grip, numbers, free, freeInMs }: TakenPlaces, asked: number): void {
    const { clock } = this.#options;
    const usableUntil = asked + USE_MS;
    this.#stock.push(...numbers.map((number) => ({ grip, number, usableUntil })));
    this.#pool = free;
    this.#lookedAt = clock.now();
    this.#times = freeInMs.map((ms) => this.#lookedAt + ms);
    // What is not used is for the others.
    if (numbers.length > 0) clock.timer(USE_MS, () => void this.#usable(), { background: true });
  }
}
