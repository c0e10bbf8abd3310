import type { Clock } from "../core/clock.ts";

/** Identifies a request, from when it is let through until it ends. */
export interface Pass {
  /** Method and template of the path, such as `POST /posts`. */
  readonly operation: string;
}

export interface CircuitOptions {
  readonly clock: Clock;
  /** Failures in a row that open the circuit. */
  readonly threshold: number;
  /** Returns how long the circuit stays open when it opens for the nth time in a row, in ms. */
  readonly cooldownMs: (opened: number) => number;
  readonly onChange: (open: boolean, retryInMs: number) => void;
}

/** A circuit breaker: closed, open for a while, then one request at a time (the trial) until one succeeds. */
export class Circuit {
  readonly #options: CircuitOptions;
  /** Failures in a row while the circuit is closed. */
  #failures = 0;
  /** Openings in a row; 0 while the circuit is closed. */
  #opened = 0;
  /** Length of the present wait, in ms. */
  #openForMs = 0;
  #openUntil = 0;
  #isRequested = false;
  #trial: Pass | undefined;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#opened === 0;
  }

  /** True while the circuit is open because the platform asked for a pause, not because failures were counted. */
  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Returns how long to wait before the next request, in ms; 0 if it may go now. */
  heldBackMs(): number {
    if (this.isClosed) return 0;
    const left = this.#leftMs();
    // The length of the trial is unknown; after its failure the wait is at least this long.
    if (left === 0 && this.#trial !== undefined) return this.#options.cooldownMs(this.#opened);
    return left;
  }

  /** Lets a request through that is not held back. While the circuit is open, that request is the trial. */
  enter(pass: Pass): void {
    if (!this.isClosed) this.#trial = pass;
  }

  isTrial(pass: Pass): boolean {
    return pass === this.#trial;
  }

  /**
   * Closes the circuit, even for a request from before it opened. If the platform asked for a pause, only the success of a
   * trial after that pause closes it.
   */
  succeeded(pass: Pass): void {
    if (this.#isRequested && !this.isTrial(pass)) return;
    const wasOpen = !this.isClosed;
    this.#failures = 0;
    this.#opened = 0;
    this.#isRequested = false;
    this.#trial = undefined;
    if (wasOpen) this.#options.onChange(false, 0);
  }

  /** Opens the circuit after too many failures in a row. */
  failed(pass: Pass): void {
    // Requests that were in flight when the circuit opened say nothing new.
    if (!this.isClosed && !this.isTrial(pass)) return;
    this.#failures += 1;
    if (this.isClosed && this.#failures < this.#options.threshold) return;
    this.#isRequested = false;
    this.#open(0);
  }

  /**
   * Opens the circuit at once, because the platform asks for a pause.
   *
   * @param waitMs minimum length of the pause, in ms
   */
  refused(pass: Pass, waitMs: number): void {
    this.#isRequested = true;
    if (this.isClosed || this.isTrial(pass)) this.#open(waitMs);
    else if (waitMs > this.#leftMs()) this.#wait(waitMs);
  }

  /** Ends a request that says nothing about the platform. */
  left(pass: Pass): void {
    if (this.isTrial(pass)) this.#trial = undefined;
  }

  #open(waitMs: number): void {
    this.#opened += 1;
    this.#wait(Math.max(waitMs, this.#options.cooldownMs(this.#opened)));
    if (this.#opened === 1) this.#options.onChange(true, this.#openForMs);
  }

  #wait(ms: number): void {
    this.#openForMs = ms;
    this.#openUntil = this.#options.clock.now() + ms;
    // A trial from before the wait says nothing about the time after it.
    this.#trial = undefined;
  }

  /** Remaining wait in ms. After the clock is set back, the wait begins anew and gets no longer. */
  #leftMs(): number {
    const now = this.#options.clock.now();
    this.#openUntil = Math.min(this.#openUntil, now + this.#openForMs);
    return Math.max(0, this.#openUntil - now);
  }
}
