import type { Clock } from "../core/clock.ts";

/** What a request holds from when it is let through until it ends. */
export interface Pass {
  readonly circuit: string;
}

/** A circuit that is open. */
export interface CircuitState {
  /** How often in a row it has opened, from 1 up. */
  readonly opened: number;
  /** How long it stays open, in milliseconds. */
  readonly openMs: number;
  /** It is open because the other side said so. */
  readonly asked: boolean;
}

/** What this process has done with a circuit: others want to know it too. */
export type CircuitMove =
  | { readonly kind: "open"; readonly state: CircuitState }
  | { readonly kind: "close" }
  /** The trial has told nothing. */
  | { readonly kind: "leave" };

export interface CircuitOptions {
  /** Tells it from the others, also between processes. */
  readonly key: string;
  readonly name: string;
  readonly clock: Clock;
  /** So many failures in a row open it. */
  readonly threshold: number;
  /** How long it stays open when it opens for the nth time in a row, in milliseconds. */
  readonly cooldown: (opened: number) => number;
  readonly onChange: (open: boolean, retryInMs: number) => void;
  readonly onMove?: ((move: CircuitMove) => void) | undefined;
}

/** A circuit breaker: closed, open for a while, then one request at a time until one succeeds. */
export class Circuit {
  readonly key: string;
  readonly name: string;
  readonly #options: CircuitOptions;
  /** In a row, while it is closed. */
  #failures = 0;
  /** How often in a row it has opened; 0 while it is closed. */
  #opened = 0;
  /** What it was opened for, in milliseconds. */
  #openForMs = 0;
  #openUntil = 0;
  /** It is open because the other side said so, not because failures were counted. */
  #asked = false;
  /** The request that tries now whether things are well again. */
  #trial: Pass | undefined;

  constructor(options: CircuitOptions) {
    this.#options = options;
    this.key = options.key;
    this.name = options.name;
  }

  get closed(): boolean {
    return this.#opened === 0;
  }

  /** True while it is open because the other side said so. */
  get asked(): boolean {
    return this.#asked;
  }

  /** How long to wait before the next request, in milliseconds; 0 when it may go now. */
  heldBackMs(): number {
    if (this.closed) return 0;
    const left = this.#leftMs();
    // Nobody knows how long the trial takes; if it fails, the wait after it is at least this long.
    if (left === 0 && this.#trial !== undefined) return this.#options.cooldown(this.#opened);
    return left;
  }

  /** Lets a request through that is not held back; where it is open that is its trial. */
  enter(): Pass {
    const pass: Pass = { circuit: this.name };
    if (!this.closed) this.#trial = pass;
    return pass;
  }

  /** True for a request that tries whether things are well again. */
  isTrial(pass: Pass): boolean {
    return pass === this.#trial;
  }

  /**
   * A success says that things are well, even that of a request from before it opened; but where the
   * other side asked to wait, only one from after the wait does.
   */
  succeeded(pass: Pass): void {
    if (this.#asked && !this.isTrial(pass)) return;
    const wasOpen = !this.closed;
    this.#failures = 0;
    this.#opened = 0;
    this.#asked = false;
    this.#trial = undefined;
    if (!wasOpen) return;
    this.#options.onMove?.({ kind: "close" });
    this.#options.onChange(false, 0);
  }

  /** Opens it when there were too many in a row. */
  failed(pass: Pass): void {
    // Of requests that were under way when it opened nothing new is learned.
    if (!this.closed && !this.isTrial(pass)) return;
    this.#failures += 1;
    if (this.closed && this.#failures < this.#options.threshold) return;
    this.#asked = false;
    this.#open(0);
  }

  /**
   * Opens it at once: the other side asks to be left alone.
   *
   * @param waitMs for at least so long, in milliseconds
   */
  refused(pass: Pass, waitMs: number): void {
    this.#asked = true;
    if (this.closed || this.isTrial(pass)) this.#open(waitMs);
    else if (waitMs > this.#leftMs()) this.#extend(waitMs);
  }

  /** The request ended without telling anything. */
  left(pass: Pass): void {
    if (!this.isTrial(pass)) return;
    this.#trial = undefined;
    this.#options.onMove?.({ kind: "leave" });
  }

  /** Another process has opened it, or undefined: closed it. */
  learn(state: CircuitState | undefined): void {
    const wasClosed = this.closed;
    this.#failures = 0;
    this.#opened = state?.opened ?? 0;
    this.#asked = state?.asked ?? false;
    this.#wait(state?.openMs ?? 0);
    if (wasClosed !== this.closed) this.#options.onChange(wasClosed, this.#openForMs);
  }

  /** Another process is about to find out; it is not tried here before that, in milliseconds. */
  holdBack(ms: number): void {
    if (this.#trial === undefined) this.#wait(ms);
  }

  #open(waitMs: number): void {
    this.#opened += 1;
    this.#extend(Math.max(waitMs, this.#options.cooldown(this.#opened)));
    if (this.#opened === 1) this.#options.onChange(true, this.#openForMs);
  }

  #extend(ms: number): void {
    this.#wait(ms);
    const state = { opened: this.#opened, openMs: ms, asked: this.#asked };
    this.#options.onMove?.({ kind: "open", state });
  }

  #wait(ms: number): void {
    this.#openForMs = ms;
    this.#openUntil = this.#options.clock.now() + ms;
    // Whoever is under way set out before this, and cannot tell what is after it.
    this.#trial = undefined;
  }

  /** In milliseconds. When the clock is set back the wait begins anew, and gets no longer than it was. */
  #leftMs(): number {
    const now = this.#options.clock.now();
    this.#openUntil = Math.min(this.#openUntil, now + this.#openForMs);
    return Math.max(0, this.#openUntil - now);
  }
}
