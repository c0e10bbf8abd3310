import type { Clock } from "../core/clock.ts";

/** `trial`: this request tries whether things are well again. */
export type Pass = "normal" | "trial";

export interface CircuitOptions {
  readonly name: string;
  readonly clock: Clock;
  /** So many failures in a row open it. */
  readonly threshold: number;
  /** How long it stays open when it opens for the nth time in a row, in milliseconds. */
  readonly cooldown: (opened: number) => number;
  readonly onChange: (open: boolean, retryInMs: number) => void;
}

/** A circuit breaker: closed, open for a while, then one request at a time until one succeeds. */
export class Circuit {
  readonly name: string;
  readonly #options: CircuitOptions;
  /** In a row, while it is closed. */
  #failures = 0;
  /** How often in a row it has opened; 0 while it is closed. */
  #opened = 0;
  #openUntil = 0;
  #trying = false;

  constructor(options: CircuitOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** Lets a request through, or says how long to wait before the next is. */
  enter(): Pass | { readonly retryInMs: number } {
    if (this.#opened === 0) return "normal";
    const left = this.#openUntil - this.#options.clock.now();
    if (left > 0) return { retryInMs: left };
    // Nobody knows how long the trial takes; if it fails, the wait after it is at least this long.
    if (this.#trying) return { retryInMs: this.#options.cooldown(this.#opened) };
    this.#trying = true;
    return "trial";
  }

  /** A success says that things are well, even that of a request from before it opened. */
  succeeded(): void {
    const wasOpen = this.#opened > 0;
    this.#failures = 0;
    this.#opened = 0;
    this.#trying = false;
    if (wasOpen) this.#options.onChange(false, 0);
  }

  /** @param waitMs how long the other side asks to wait; more than 0 opens it at once */
  failed(pass: Pass, waitMs = 0): void {
    if (pass === "trial") this.#trying = false;
    // Of requests that were under way when it opened nothing new is learned.
    else if (this.#opened > 0) return;
    this.#failures += 1;
    const { threshold } = this.#options;
    if (this.#opened === 0 && this.#failures < threshold && waitMs === 0) return;
    this.#open(waitMs);
  }

  /** The request ended without telling anything. */
  left(pass: Pass): void {
    if (pass === "trial") this.#trying = false;
  }

  #open(waitMs: number): void {
    const { clock, cooldown, onChange } = this.#options;
    this.#opened += 1;
    const retryInMs = Math.max(waitMs, cooldown(this.#opened));
    this.#openUntil = clock.now() + retryInMs;
    if (this.#opened === 1) onChange(true, retryInMs);
  }
}
