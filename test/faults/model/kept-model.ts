import type { Effects, StoredTimer } from "../../faces/inbox.ts";
import { compareText } from "./ids.ts";

export interface ModelState {
  readonly value: string;
  /** Counts writes across all states. Stores choose versions freely; they only have to be unique. */
  readonly version: number;
  readonly updatedAt: number;
}

export interface ModelEffects extends Omit<Effects, "states"> {
  readonly states: readonly {
    readonly key: string;
    readonly value: string | undefined;
    readonly version: number | undefined;
  }[];
}

export class KeptModel {
  readonly states: Map<string, ModelState> = new Map();
  #timers: StoredTimer[] = [];
  #writes = 0;

  conflicts({ states }: ModelEffects): boolean {
    return states.some(({ key, version }) => this.states.get(key)?.version !== version);
  }

  apply({ states, cancels, timers }: ModelEffects, now: number): void {
    for (const { key, value } of states) {
      this.#writes += 1;
      if (value === undefined) this.states.delete(key);
      else this.states.set(key, { value, version: this.#writes, updatedAt: now });
    }
    for (const { lane, name, key } of cancels) {
      const fits = (one: StoredTimer) =>
        one.lane === lane && one.name === name && (key ?? one.key) === one.key;
      this.#timers = this.#timers.filter((one) => !fits(one));
    }
    for (const { delayMs, ...timer } of timers) {
      const isSame = (one: StoredTimer) =>
        one.lane === timer.lane && one.name === timer.name && one.key === timer.key;
      this.#timers = this.#timers.filter((one) => !isSame(one));
      this.#timers.push({ ...timer, dueAt: now + delayMs });
    }
  }

  timers(): readonly StoredTimer[] {
    return [...this.#timers].sort(
      (a, b) => a.dueAt - b.dueAt || compareText(a.lane, b.lane) || compareText(a.key, b.key),
    );
  }

  makeDue(lane: string, name: string, key: string | undefined, now: number): number {
    const fits = (one: StoredTimer) =>
      one.lane === lane && one.name === name && (key ?? one.key) === one.key;
    const count = this.#timers.filter(fits).length;
    this.#timers = this.#timers.map((one) =>
      fits(one) ? { ...one, dueAt: Math.min(one.dueAt, now) } : one,
    );
    return count;
  }

  takeDue(limit: number, now: number): readonly StoredTimer[] {
    const due = this.timers()
      .filter(({ dueAt }) => dueAt <= now)
      .slice(0, limit);
    this.#timers = this.#timers.filter((one) => !due.includes(one));
    return due;
  }

  nextInMs(now: number): number | undefined {
    const [next] = this.timers();
    return next && Math.max(0, next.dueAt - now);
  }
}
