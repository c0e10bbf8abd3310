import { setTimeout as wait } from "node:timers/promises";
import type { TimelineEntry } from "../../src/platform/index.ts";
import type { ControlClient } from "../faces/cli.ts";
import { asked } from "./texts.ts";

/** Between two looks at the timeline, in milliseconds. It keeps far more than comes meanwhile. */
const LOOK_MS = 250;

const NOTHING: { readonly entries: readonly TimelineEntry[] } = { entries: [] };

/** So many of the bot's comments are remembered, for people to reply to. */
const COMMENTS = 20;

/** What was done to the bot, and what the platform saw of it. */
export class Ledger {
  /** Comments that the bot has made, the newest last. */
  readonly comments: string[] = [];
  /** Requests to the API that a fault has touched. */
  faulted = 0;
  readonly #hopeful = new Set<string>();
  readonly #hopeless = new Set<string>();
  readonly #said = new Map<string, number>();
  readonly #problems: string[] = [];

  isHopeless(id: string): boolean {
    return this.#hopeless.has(id);
  }

  isAnswered(id: string): boolean {
    return this.#said.has(id);
  }

  get events(): number {
    return this.#hopeful.size + this.#hopeless.size;
  }

  get answered(): number {
    return this.#said.size;
  }

  /** True when everything that has hope was answered. */
  get isSettled(): boolean {
    return this.#said.size >= this.#hopeful.size;
  }

  get hopeless(): number {
    return this.#hopeless.size;
  }

  /** Reads the platform's timeline until `signal` aborts, and then what is left of it. */
  async follow(control: Pick<ControlClient, "timeline">, signal: AbortSignal): Promise<void> {
    let seen = 0;
    for (;;) {
      const last = signal.aborted;
      // A look in vain is no loss: the timeline keeps what comes meanwhile.
      const { entries } = await control.timeline(seen, 0).catch(() => NOTHING);
      for (const entry of entries) {
        if (entry.seq !== seen + 1) this.#problems.push(`the timeline is torn after ${seen}`);
        seen = entry.seq;
        this.#note(entry);
      }
      if (last && entries.length === 0) return;
      if (!last) await wait(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Every broken promise in one sentence. */
  violations(): string[] {
    const problems = [...this.#problems];
    for (const id of this.#hopeful) {
      const times = this.#said.get(id) ?? 0;
      if (times !== 1) problems.push(`${id} was answered ${times} times, not once`);
    }
    for (const id of this.#said.keys()) {
      if (!this.#hopeful.has(id)) problems.push(`${id} was answered, and should not have been`);
    }
    return problems;
  }

  /** An event must be answered once; one that is hopeless must not be answered at all. */
  #note(entry: TimelineEntry): void {
    if (entry.kind === "event") {
      const hopeless = asked(entry.text ?? "") === "hopeless";
      (hopeless ? this.#hopeless : this.#hopeful).add(entry.id);
    }
    if (entry.kind !== "api") return;
    if (entry.fault !== undefined) this.faulted += 1;
    if (entry.created === undefined) return;
    const [id] = /^evt_\w+/.exec(entry.text ?? "") ?? [];
    if (id === undefined) return;
    this.#said.set(id, (this.#said.get(id) ?? 0) + 1);
    const { commentId } = entry.created;
    if (commentId === undefined) return;
    this.comments.push(commentId);
    if (this.comments.length > COMMENTS) this.comments.shift();
  }
}
